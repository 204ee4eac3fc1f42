select a, rank() over w as position, e from t window w as (partition by c)
