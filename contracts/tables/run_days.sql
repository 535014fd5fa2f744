-- Which runs reach over several days. An event belongs to the day its run started; a child run belongs to its
-- parent; a second start of a run belongs to the first. `run_starts` holds (run_id, day) of the starts that may
-- belong to the events of the target days.
WITH events AS (
  SELECT run_id, day, 'event' AS link FROM steps
  UNION
  SELECT run_id, day, 'event' AS link FROM run_statuses
  UNION
  SELECT run_id, day, 'event' AS link FROM runs_finished
),
foreign_events AS (
  SELECT run_id, day, link FROM events SEMI JOIN targets USING (day) ANTI JOIN runs_started USING (run_id, day)
  UNION
  SELECT parent_run_id AS run_id, day, 'child' AS link
  FROM runs_started SEMI JOIN targets USING (day)
  WHERE parent_run_id IS NOT NULL
),
starts AS (
  SELECT run_id, min(day) AS run_day
  FROM run_starts SEMI JOIN foreign_events USING (run_id)
  GROUP BY run_id
),
again AS (
  SELECT runs_started.run_id, runs_started.day, min(run_starts.day) AS run_day
  FROM runs_started SEMI JOIN targets USING (day) INNER JOIN run_starts ON runs_started.run_id = run_starts.run_id
  GROUP BY runs_started.run_id, runs_started.day
  HAVING min(run_starts.day) < runs_started.day
),
linked AS (
  SELECT
    foreign_events.link,
    starts.run_day,
    CASE WHEN starts.run_day IS NULL THEN foreign_events.run_id END AS run_id,
    foreign_events.day
  FROM foreign_events LEFT JOIN starts USING (run_id)
  WHERE starts.run_day IS DISTINCT FROM foreign_events.day
  UNION
  SELECT 'event' AS link, run_day, NULL AS run_id, day FROM again
)
SELECT link, run_day, run_id, day FROM linked
ORDER BY link, run_day, run_id
