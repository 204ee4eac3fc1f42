create or replace warehouse reporting; alter warehouse reporting suspend; show warehouses
