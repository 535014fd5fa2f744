-- Days that may hold an earlier version of an incoming event: its own, the one its id tells, the ones `keys` knows.
SELECT DISTINCT CAST(day AS VARCHAR) AS day FROM (
  SELECT day FROM incoming
  UNION ALL
  SELECT id_day(event_id) FROM incoming WHERE id_day(event_id) IS DISTINCT FROM day
  UNION ALL
  SELECT keys.day FROM keys
  SEMI JOIN (SELECT key_hash(source, event_id) AS key_hash FROM incoming) USING (key_hash)
  WHERE keys.event_table = $event_table
)
WHERE day IS NOT NULL
