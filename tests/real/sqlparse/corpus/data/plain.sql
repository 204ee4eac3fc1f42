select a, b, count(*) as n from first_table f left join second s on f.id = s.id where a > 1 and b in (1, 2) group by a, b having count(*) > 3 order by a desc limit 10
