-- Outcomes that were reported, changed or taken back.
WITH pairs AS (
    SELECT o, n, coalesce(n.outcome_id, o.outcome_id) AS outcome_id
    FROM old_results AS o
    FULL JOIN new_results AS n ON o.source = n.source AND o.outcome_id = n.outcome_id
    WHERE o IS DISTINCT FROM n
)

SELECT NULL AS run_id, outcome_id, 'result' AS reason, -1 AS sign,
    CAST(o.occurred_at AT TIME ZONE $timezone AS DATE) AS business_day, o.run, o.call, o.figures
FROM pairs WHERE o.outcome_id IS NOT NULL
UNION ALL
SELECT NULL, outcome_id, 'result', 1, CAST(n.occurred_at AT TIME ZONE $timezone AS DATE), n.run, n.call, n.figures
FROM pairs WHERE n.outcome_id IS NOT NULL
