select a, b from t order by a asc nulls first, b desc nulls last, c
