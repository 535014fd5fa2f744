-- How wide production runs are. Percentiles are those of the worst day: percentiles of days have no mean.
SELECT
    workflow,
    CAST(sum(runs) AS BIGINT) AS runs,
    CAST(sum(steps) AS BIGINT) AS steps,
    max(p95_steps) AS p95_steps,
    CAST(sum(repeated_runs) AS BIGINT) AS repeated_runs,
    max(p95_latency_ms) AS p95_latency_ms,
    max(max_tools_called) AS tools,
    arg_max(widest_run_id, (max_tools_called, max_steps, business_day)) AS widest_run_id
FROM workflow_traffic
WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
GROUP BY workflow
HAVING sum(runs) > 0
ORDER BY tools DESC, steps DESC, workflow
