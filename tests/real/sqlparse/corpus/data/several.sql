select 1; select 2 from t;
update t set a = 3 where b = 4;
