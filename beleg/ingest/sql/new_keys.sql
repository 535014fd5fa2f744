-- Keys of incoming rows whose id does not tell their day, as far as they are new.
CREATE OR REPLACE TEMP TABLE new_keys AS
SELECT DISTINCT CAST($event_table AS VARCHAR) AS event_table, key_hash(source, event_id) AS key_hash, day
FROM incoming
WHERE id_day(event_id) IS DISTINCT FROM day
EXCEPT
SELECT event_table, key_hash, day FROM keys WHERE event_table = $event_table
