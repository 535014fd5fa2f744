-- The UTC day an id tells by itself (UUIDv7), else null.
CREATE OR REPLACE TEMP MACRO id_day(id) AS
  CASE WHEN length(id) = 36 AND substr(id, 15, 1) = '7'
       THEN CAST(try(uuid_extract_timestamp(TRY_CAST(id AS UUID))) AS DATE) END;
-- The stable key of an identity. Collisions only cost a look at a day too many.
CREATE OR REPLACE TEMP MACRO key_hash(source, event_id) AS
  CAST(md5_number_lower(source || chr(31) || event_id) >> 1 AS BIGINT);
