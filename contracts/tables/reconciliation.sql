-- Billed and computed cost, never mixed: amounts are compared over the steps that carry both.
WITH calls AS (
    SELECT
        CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day,
        workflow,
        provider,
        model,
        cost_pico_usd,
        billed_pico_usd
    FROM step_costs
    WHERE counted AND (model IS NOT NULL OR billed_pico_usd IS NOT NULL)
),

totals AS (
    SELECT
        business_day,
        workflow,
        provider,
        model,
        count(*) AS steps,
        count(billed_pico_usd) AS billed_steps,
        count(billed_pico_usd + CAST(cost_pico_usd AS DECIMAL(38, 0))) AS compared_steps,
        count(CASE WHEN billed_pico_usd = cost_pico_usd THEN 1 END) AS equal_steps,
        count(CASE WHEN billed_pico_usd IS NOT NULL AND cost_pico_usd IS NULL THEN 1 END) AS billed_unpriced_steps,
        count(CASE WHEN billed_pico_usd IS NULL AND cost_pico_usd IS NOT NULL THEN 1 END) AS unbilled_priced_steps,
        CAST(
            coalesce(sum(CASE WHEN cost_pico_usd IS NOT NULL THEN billed_pico_usd END), 0) AS DECIMAL(38, 0)
        ) AS compared_billed_pico_usd,
        CAST(
            coalesce(sum(CASE WHEN billed_pico_usd IS NOT NULL THEN cost_pico_usd END), 0) AS DECIMAL(38, 0)
        ) AS compared_computed_pico_usd,
        CAST(
            coalesce(sum(CASE WHEN cost_pico_usd IS NULL THEN billed_pico_usd END), 0) AS DECIMAL(38, 0)
        ) AS billed_unpriced_pico_usd,
        CAST(
            coalesce(sum(CASE WHEN billed_pico_usd IS NULL THEN cost_pico_usd END), 0) AS DECIMAL(38, 0)
        ) AS unbilled_computed_pico_usd,
        strftime(business_day, '%Y-%m') AS month
    FROM calls
    GROUP BY business_day, workflow, provider, model
)

SELECT
    business_day,
    workflow,
    provider,
    model,
    steps,
    billed_steps,
    compared_steps,
    equal_steps,
    billed_unpriced_steps,
    unbilled_priced_steps,
    compared_billed_pico_usd,
    compared_computed_pico_usd,
    CAST(compared_billed_pico_usd - compared_computed_pico_usd AS DECIMAL(38, 0)) AS difference_pico_usd,
    billed_unpriced_pico_usd,
    unbilled_computed_pico_usd,
    month
FROM totals
WHERE month IN (SELECT month FROM targets)
ORDER BY business_day, workflow, provider, model
