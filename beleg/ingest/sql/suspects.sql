-- Identities that occur more than once, by a hash: a superset, decided exactly in contest.sql.
CREATE OR REPLACE TEMP TABLE suspects AS
SELECT h FROM (
  SELECT hash(source, event_id) AS h FROM incoming
  UNION ALL
  SELECT hash(source, event_id) FROM earlier
)
GROUP BY h
HAVING count(*) > 1
