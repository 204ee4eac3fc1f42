-- a line
select a, /* inside */ b -- behind
from t
