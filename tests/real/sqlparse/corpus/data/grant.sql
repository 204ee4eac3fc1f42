grant select on t to reader; revoke all on t from reader
