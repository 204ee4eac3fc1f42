truncate table t; select a from t
