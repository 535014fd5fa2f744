-- Per business day: what the steps cost and how many runs began, held against the mart. Only days that differ.
WITH steps AS (
    SELECT
        CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day,
        CAST(sum(coalesce(cost_pico_usd, 0)) AS DECIMAL(38, 0)) AS cost_pico_usd,
        count(*) FILTER (WHERE counted) AS steps
    FROM step_costs
    GROUP BY ALL
),

runs AS (
    SELECT CAST(started_at AT TIME ZONE $timezone AS DATE) AS business_day, count(*) AS runs
    FROM run_costs
    GROUP BY ALL
),

mart AS (
    SELECT business_day, sum(cost_pico_usd) AS cost_pico_usd, sum(steps) AS steps, sum(runs) AS runs
    FROM unit_costs
    GROUP BY ALL
)

SELECT
    CAST(business_day AS VARCHAR) AS business_day,
    CAST(coalesce(steps.cost_pico_usd, 0) AS VARCHAR) AS of_steps_pico_usd,
    CAST(coalesce(mart.cost_pico_usd, 0) AS VARCHAR) AS of_mart_pico_usd
FROM days
LEFT JOIN steps USING (business_day)
LEFT JOIN runs USING (business_day)
LEFT JOIN mart USING (business_day)
WHERE coalesce(steps.cost_pico_usd, 0) <> coalesce(mart.cost_pico_usd, 0)
    OR coalesce(steps.steps, 0) <> coalesce(mart.steps, 0)
    OR coalesce(runs.runs, 0) <> coalesce(mart.runs, 0)
ORDER BY business_day
