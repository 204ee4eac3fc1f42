select a.payload->'item'->>'name' as name, b.payload#>>'{x,y}' as y from a join b on a.payload->>'id' = b.id where a.payload @> '{"k": 1}' and b.n = 2
