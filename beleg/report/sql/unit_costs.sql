-- What a business result costs: all production runs, failed ones too, over the results that came out.
-- failed_runs / ended_runs is the failure rate: abandoned runs count as failed, open ones not at all.
-- Unit cost = cost_pico_usd * unit_per / results.
SELECT
    workflow,
    max(unit) AS unit,
    max(unit_per) AS unit_per,
    CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
    CAST(sum(results) AS DECIMAL(38, 0)) AS results,
    CAST(sum(runs) AS BIGINT) AS runs,
    CAST(sum(succeeded_runs + failed_runs + abandoned_runs) AS BIGINT) AS ended_runs,
    CAST(sum(failed_runs + abandoned_runs) AS BIGINT) AS failed_runs,
    CAST(sum(steps) AS BIGINT) AS steps,
    CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps
FROM unit_costs
WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
GROUP BY workflow
ORDER BY cost_pico_usd DESC, workflow
