select * from t where data @> '{"a": 1}' and tags ?| array['x','y']
