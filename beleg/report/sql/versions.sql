-- Prompt versions of production runs side by side. Results of outcomes belong to no single version.
-- Rates: failed_runs / ended_runs, disliked_runs / judged_runs, corrected_runs / runs.
SELECT
    workflow,
    prompt_version,
    max(unit) AS unit,
    max(unit_per) AS unit_per,
    min(business_day) FILTER (runs > 0) AS first_day,
    max(business_day) FILTER (runs > 0) AS last_day,
    CAST(sum(runs) AS BIGINT) AS runs,
    CAST(sum(ended_runs) AS BIGINT) AS ended_runs,
    CAST(sum(failed_runs) AS BIGINT) AS failed_runs,
    CAST(sum(judged_runs) AS BIGINT) AS judged_runs,
    CAST(sum(disliked_runs) AS BIGINT) AS disliked_runs,
    CAST(sum(corrected_runs) AS BIGINT) AS corrected_runs,
    CAST(sum(results) AS DECIMAL(38, 0)) AS results,
    CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
    CAST(sum(steps) AS BIGINT) AS steps,
    CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps,
    max(p95_latency_ms) AS p95_latency_ms
FROM prompt_versions
WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
GROUP BY workflow, prompt_version
HAVING sum(runs) > 0
ORDER BY workflow, first_day, prompt_version
