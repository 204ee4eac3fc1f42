create table t (id integer primary key, name text not null, foreign key (id) references u (id))
