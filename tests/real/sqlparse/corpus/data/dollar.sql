create function f() returns text as $$select from where$$ language sql;
select a||$$select from$$ from t where b=$$and or not$$
