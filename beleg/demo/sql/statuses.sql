SELECT status AS name, CAST(count(*) AS BIGINT) AS found
FROM run_costs
WHERE status IN ('succeeded', 'failed', 'cancelled')
GROUP BY status
