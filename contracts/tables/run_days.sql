-- Days of runs whose events lie on another day than their start. `run_starts` holds (run_id, day) of the
-- starts that may belong to them.
WITH events AS (
  SELECT run_id, day FROM steps
  UNION
  SELECT run_id, day FROM run_statuses
  UNION
  SELECT run_id, day FROM runs_finished
),
foreign_events AS (
  SELECT run_id, day FROM events SEMI JOIN targets USING (day) ANTI JOIN runs_started USING (run_id, day)
),
starts AS (
  SELECT run_id, min(day) AS run_day
  FROM run_starts SEMI JOIN foreign_events USING (run_id)
  GROUP BY run_id
)
SELECT DISTINCT
  starts.run_day,
  CASE WHEN starts.run_day IS NULL THEN foreign_events.run_id END AS run_id,
  foreign_events.day
FROM foreign_events
LEFT JOIN starts USING (run_id)
ORDER BY run_day, run_id
