-- Cost and results under one grouping. Unit costs are quoted for production alone and only where every row
-- of the group counts the same unit; a split by model or provider leaves the results whole.
WITH chosen AS (
    SELECT *
    FROM unit_costs
    WHERE
        business_day BETWEEN $from_day AND $to_day
        AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
        AND ($workflow IS NULL OR workflow = $workflow)
        AND ($tenant IS NULL OR tenant = $tenant)
),

grouped AS (
    SELECT
        /*dimensions*/
        CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
        CAST(
            coalesce(sum(CASE WHEN purpose = 'production' THEN cost_pico_usd END), 0) AS DECIMAL(38, 0)
        ) AS production_pico_usd,
        coalesce(sum(CASE WHEN purpose = 'production' THEN runs END), 0) AS production_runs,
        coalesce(sum(CASE WHEN purpose = 'production' THEN steps END), 0) AS production_steps,
        coalesce(sum(CASE WHEN purpose = 'production' THEN unpriced_steps END), 0) AS production_unpriced_steps,
        CAST(sum(billed_pico_usd) AS DECIMAL(38, 0)) AS billed_pico_usd,
        CAST(sum(steps) AS BIGINT) AS steps,
        CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps,
        CAST(sum(runs) AS BIGINT) AS runs,
        CAST(sum(failed_runs) AS BIGINT) AS failed_runs,
        CAST(
            coalesce(sum(CASE WHEN purpose = 'production' THEN results END), 0) AS DECIMAL(38, 0)
        ) AS results,
        min(unit) AS first_unit,
        max(unit) AS last_unit,
        min(unit_per) AS least_per,
        max(unit_per) AS most_per,
        count(*) - count(unit) AS rows_without_unit
    FROM chosen
    GROUP BY /*grouping*/
),

shared AS (
    SELECT
        *,
        CAST(sum(results) OVER (PARTITION BY /*undivided*/) AS DECIMAL(38, 0)) AS group_results,
        CAST(sum(runs) OVER (PARTITION BY /*undivided*/) AS BIGINT) AS group_runs,
        CAST(sum(failed_runs) OVER (PARTITION BY /*undivided*/) AS BIGINT) AS group_failed_runs
    FROM grouped
)

SELECT
    /*names*/
    cost_pico_usd,
    production_pico_usd,
    CAST(production_runs AS BIGINT) AS production_runs,
    CAST(production_steps AS BIGINT) AS production_steps,
    CAST(production_unpriced_steps AS BIGINT) AS production_unpriced_steps,
    billed_pico_usd,
    steps,
    unpriced_steps,
    group_runs AS runs,
    group_failed_runs AS failed_runs,
    group_results AS results,
    CASE
        WHEN rows_without_unit = 0 AND first_unit = last_unit AND least_per = most_per THEN first_unit
    END AS unit,
    CASE
        WHEN rows_without_unit = 0 AND first_unit = last_unit AND least_per = most_per THEN least_per
    END AS unit_per
FROM shared
WHERE NOT $split OR steps > 0
ORDER BY ALL
