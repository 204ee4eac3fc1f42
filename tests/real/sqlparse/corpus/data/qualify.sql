select a, b from t qualify row_number() over (partition by a order by b) = 1
