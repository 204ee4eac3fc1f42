select a, sum(b) over (partition by c order by d) as total, e from t where f = 1
