-- Runs on the business day of their start. A percentile is the smallest value that at least that share of the
-- runs does not exceed, which is what PERCENTILE_DISC means; sqlglot writes that one as an approximation for Spark.
WITH runs AS (
    SELECT
        r.*,
        CAST(r.started_at AT TIME ZONE $timezone AS DATE) AS business_day,
        CASE WHEN r.status IN ('succeeded', 'failed') THEN r.latency_ms END AS ended_latency_ms,
        z.tools AS tools_offered
    FROM run_costs AS r
    LEFT JOIN toolset_sizes AS z ON r.toolset_hash = z.toolset_hash
),

placed AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY business_day, workflow, purpose ORDER BY steps) AS steps_place,
        count(*) OVER (PARTITION BY business_day, workflow, purpose) AS steps_of,
        row_number() OVER (
            PARTITION BY business_day, workflow, purpose ORDER BY ended_latency_ms NULLS LAST
        ) AS latency_place,
        count(ended_latency_ms) OVER (PARTITION BY business_day, workflow, purpose) AS latency_of,
        row_number() OVER (
            PARTITION BY business_day, workflow, purpose
            ORDER BY tools_called DESC, steps DESC, started_at, run_id
        ) AS width_place
    FROM runs
)

SELECT
    business_day,
    workflow,
    purpose,
    count(*) AS runs,
    count(CASE WHEN status = 'running' THEN 1 END) AS running_runs,
    count(CASE WHEN status = 'needs_input' THEN 1 END) AS needs_input_runs,
    count(CASE WHEN status = 'succeeded' THEN 1 END) AS succeeded_runs,
    count(CASE WHEN status = 'failed' THEN 1 END) AS failed_runs,
    count(CASE WHEN status = 'cancelled' THEN 1 END) AS cancelled_runs,
    count(CASE WHEN status = 'abandoned' THEN 1 END) AS abandoned_runs,
    count(parent_run_id) AS child_runs,
    CAST(sum(steps) AS BIGINT) AS steps,
    CAST(sum(model_steps) AS BIGINT) AS model_steps,
    CAST(sum(tool_steps) AS BIGINT) AS tool_steps,
    CAST(sum(failed_steps) AS BIGINT) AS failed_steps,
    CAST(sum(retry_steps) AS BIGINT) AS retry_steps,
    CAST(sum(fallback_steps) AS BIGINT) AS fallback_steps,
    CAST(sum(repair_steps) AS BIGINT) AS repair_steps,
    count(CASE WHEN retry_steps + fallback_steps + repair_steps > 0 THEN 1 END) AS repeated_runs,
    min(CASE WHEN steps_place * 100 >= steps_of * 50 THEN steps END) AS p50_steps,
    min(CASE WHEN steps_place * 100 >= steps_of * 95 THEN steps END) AS p95_steps,
    max(steps) AS max_steps,
    max(tools_called) AS max_tools_called,
    count(tools_offered) AS offered_runs,
    CAST(coalesce(sum(tools_offered), 0) AS DECIMAL(38, 0)) AS offered_tools,
    max(tools_offered) AS max_tools_offered,
    min(CASE WHEN width_place = 1 THEN run_id END) AS widest_run_id,
    min(CASE WHEN latency_place * 100 >= latency_of * 50 THEN ended_latency_ms END) AS p50_latency_ms,
    min(CASE WHEN latency_place * 100 >= latency_of * 95 THEN ended_latency_ms END) AS p95_latency_ms,
    strftime(business_day, '%Y-%m') AS month
FROM placed
WHERE strftime(business_day, '%Y-%m') IN (SELECT month FROM targets)
GROUP BY business_day, workflow, purpose
ORDER BY business_day, workflow, purpose
