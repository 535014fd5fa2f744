-- Totals over all purposes. Abandoned runs count as failed; open ones have not ended.
SELECT
    CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
    CAST(sum(runs) AS BIGINT) AS runs,
    CAST(sum(succeeded_runs + failed_runs + abandoned_runs) AS BIGINT) AS ended_runs,
    CAST(sum(succeeded_runs) AS BIGINT) AS succeeded_runs,
    CAST(sum(failed_runs + abandoned_runs) AS BIGINT) AS failed_runs,
    CAST(sum(abandoned_runs) AS BIGINT) AS abandoned_runs
FROM unit_costs
WHERE business_day BETWEEN $first_day AND $last_day
