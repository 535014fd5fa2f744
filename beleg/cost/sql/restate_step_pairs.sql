-- Steps that differ between the two states, and why. `elsewhere` holds identities of days beyond those compared, on
-- which a step that seems to have come or gone stands as well: then it only moved.
SELECT
    coalesce(n.run_id, o.run_id) AS run_id,
    o.source,
    o.event_id,
    o.event_time AS old_time,
    n.event_time AS new_time,
    o.event_id IS NOT NULL AS was,
    n.event_id IS NOT NULL AS is_now,
    o.counted AS was_counted,
    o.run AS old_run,
    n.run AS new_run,
    o.call AS old_call,
    n.call AS new_call,
    o.figures AS old_figures,
    n.figures AS new_figures,
    CASE
        WHEN o.event_id IS NULL THEN CASE WHEN e.event_id IS NULL THEN 'late_event' ELSE 'correction' END
        WHEN n.event_id IS NULL THEN CASE WHEN e.event_id IS NULL THEN 'removed' ELSE 'correction' END
        WHEN o.ingest_id <> n.ingest_id THEN 'correction'
        WHEN o.counted <> n.counted THEN 'duplicate'
    END AS reason,
    CASE
        WHEN o.event_id IS NULL OR n.event_id IS NULL OR o.run IS NOT DISTINCT FROM n.run THEN NULL
        WHEN o.run.workflow IS NULL THEN 'late_event'
        WHEN n.run.workflow IS NULL THEN 'removed'
        ELSE 'correction'
    END AS run_reason
FROM old_steps AS o
FULL JOIN new_steps AS n ON o.source = n.source AND o.event_id = n.event_id
LEFT JOIN elsewhere AS e
    ON coalesce(o.source, n.source) = e.source AND coalesce(o.event_id, n.event_id) = e.event_id
    AND e.in_old = (o.event_id IS NULL)
WHERE o IS DISTINCT FROM n
