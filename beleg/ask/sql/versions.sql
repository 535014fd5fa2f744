-- Counts per prompt version of one workflow and purpose. The percentile is that of all its runs in the period.
WITH latencies AS (
  SELECT prompt_version, PERCENTILE_DISC(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95_latency_ms
  FROM run_costs
  WHERE
    workflow = $workflow AND purpose = $purpose AND status IN ('succeeded', 'failed')
    AND day BETWEEN CAST($from_day AS DATE) - 1 AND CAST($to_day AS DATE) + 1
    AND CAST(started_at AT TIME ZONE $timezone AS DATE) BETWEEN $from_day AND $to_day
  GROUP BY prompt_version
),

counts AS (
  SELECT
    prompt_version,
    min(CASE WHEN runs > 0 THEN business_day END) AS first_day,
    max(CASE WHEN runs > 0 THEN business_day END) AS last_day,
    min(unit) AS unit,
    min(unit_per) AS unit_per,
    CAST(sum(runs) AS BIGINT) AS runs,
    CAST(sum(ended_runs) AS BIGINT) AS ended_runs,
    CAST(sum(failed_runs) AS BIGINT) AS failed_runs,
    CAST(sum(judged_runs) AS BIGINT) AS judged_runs,
    CAST(sum(liked_runs) AS BIGINT) AS liked_runs,
    CAST(sum(disliked_runs) AS BIGINT) AS disliked_runs,
    CAST(sum(corrected_runs) AS BIGINT) AS corrected_runs,
    CAST(sum(extraction_error_runs) AS BIGINT) AS extraction_error_runs,
    CAST(sum(mapping_bug_runs) AS BIGINT) AS mapping_bug_runs,
    CAST(sum(unsupported_case_runs) AS BIGINT) AS unsupported_case_runs,
    CAST(sum(user_preference_runs) AS BIGINT) AS user_preference_runs,
    CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
    CAST(sum(steps) AS BIGINT) AS steps,
    CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps,
    CAST(sum(results) AS DECIMAL(38, 0)) AS results
  FROM prompt_versions
  WHERE
    workflow = $workflow AND purpose = $purpose AND business_day BETWEEN $from_day AND $to_day
    AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
  GROUP BY prompt_version
)

SELECT c.*, l.p95_latency_ms
FROM counts AS c
LEFT JOIN latencies AS l ON c.prompt_version IS NOT DISTINCT FROM l.prompt_version
ORDER BY c.last_day DESC NULLS LAST, c.prompt_version
