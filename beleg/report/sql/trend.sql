-- Production cost and results of the seven days up to each day: their ratio is the trend.
WITH days AS (
    SELECT CAST(unnest(generate_series(CAST($first_day AS DATE), CAST($last_day AS DATE), INTERVAL 1 DAY)) AS DATE)
        AS business_day
),

sums AS (
    SELECT
        workflow,
        business_day,
        sum(cost_pico_usd) AS cost_pico_usd,
        sum(results) AS results,
        sum(runs) AS runs,
        sum(steps) AS steps,
        sum(unpriced_steps) AS unpriced_steps
    FROM unit_costs
    WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
    GROUP BY workflow, business_day
),

workflows AS (SELECT DISTINCT workflow FROM sums)

SELECT
    workflows.workflow,
    days.business_day,
    CAST(coalesce(sum(sums.cost_pico_usd) OVER week, 0) AS DECIMAL(38, 0)) AS cost_pico_usd,
    CAST(coalesce(sum(sums.results) OVER week, 0) AS DECIMAL(38, 0)) AS results,
    CAST(coalesce(sum(sums.runs) OVER week, 0) AS BIGINT) AS runs,
    CAST(coalesce(sum(sums.steps) OVER week, 0) AS BIGINT) AS steps,
    CAST(coalesce(sum(sums.unpriced_steps) OVER week, 0) AS BIGINT) AS unpriced_steps
FROM workflows
CROSS JOIN days
LEFT JOIN sums
    ON sums.business_day = days.business_day AND sums.workflow IS NOT DISTINCT FROM workflows.workflow
WINDOW week AS (
    PARTITION BY workflows.workflow ORDER BY days.business_day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW
)
QUALIFY row_number() OVER (PARTITION BY workflows.workflow ORDER BY days.business_day) >= 7
ORDER BY workflows.workflow, days.business_day
