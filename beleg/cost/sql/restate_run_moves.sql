-- What each differing run takes from one row of unit_costs and adds to another: first by its start, then by how it
-- ended. A run that only became abandoned did so by silence; under another abandon_after, by policy.
WITH pairs AS (
    SELECT
        coalesce(n.run_id, o.run_id) AS run_id,
        o.run_id IS NOT NULL AS was,
        n.run_id IS NOT NULL AS is_now,
        o.started_at AS old_time,
        n.started_at AS new_time,
        o.run AS old_run,
        n.run AS new_run,
        coalesce(o.call, n.call) AS call,
        o.figures AS old_figures,
        n.figures AS new_figures,
        CASE
            WHEN o.run_id IS NULL THEN CASE WHEN e.event_id IS NULL THEN 'late_event' ELSE 'correction' END
            WHEN n.run_id IS NULL THEN CASE WHEN e.event_id IS NULL THEN 'removed' ELSE 'correction' END
            WHEN o.run IS DISTINCT FROM n.run OR o.started_at <> n.started_at THEN 'correction'
        END AS start_reason,
        CASE
            WHEN o.run_id IS NULL OR n.run_id IS NULL OR o.figures = n.figures THEN NULL
            WHEN o.finished_at IS NULL AND n.finished_at IS NOT NULL THEN 'late_event'
            WHEN n.finished_at IS NULL AND o.finished_at IS NOT NULL THEN 'removed'
            WHEN n.finished_at IS NOT NULL THEN 'correction'
            WHEN o.last_seen_at <> n.last_seen_at THEN 'late_event'
            WHEN o.abandon_at IS NOT DISTINCT FROM n.abandon_at THEN 'abandoned'
        END AS end_reason
    FROM old_runs AS o
    FULL JOIN new_runs AS n ON o.run_id = n.run_id
    LEFT JOIN elsewhere AS e ON coalesce(o.run_id, n.run_id) = e.event_id AND e.in_old = (o.run_id IS NULL)
    WHERE o IS DISTINCT FROM n
)

SELECT run_id, NULL AS outcome_id, start_reason AS reason, -1 AS sign,
    CAST(old_time AT TIME ZONE $timezone AS DATE) AS business_day, old_run AS run, call, old_figures AS figures
FROM pairs WHERE was AND start_reason IS NOT NULL
UNION ALL
SELECT run_id, NULL, start_reason, 1, CAST(new_time AT TIME ZONE $timezone AS DATE), new_run, call,
    CASE WHEN was THEN old_figures ELSE new_figures END
FROM pairs WHERE is_now AND start_reason IS NOT NULL
UNION ALL
SELECT run_id, NULL, end_reason, -1, CAST(new_time AT TIME ZONE $timezone AS DATE), new_run, call, old_figures
FROM pairs WHERE end_reason IS NOT NULL
UNION ALL
SELECT run_id, NULL, end_reason, 1, CAST(new_time AT TIME ZONE $timezone AS DATE), new_run, call, new_figures
FROM pairs WHERE end_reason IS NOT NULL
