select 1
GO
select 2
GO
insert into t values (3)
