-- Billed against computed cost where a provider says what it billed, over the steps that carry both.
SELECT
    provider,
    model,
    CAST(sum(compared_steps) AS BIGINT) AS compared_steps,
    CAST(sum(equal_steps) AS BIGINT) AS equal_steps,
    CAST(sum(compared_billed_pico_usd) AS DECIMAL(38, 0)) AS billed_pico_usd,
    CAST(sum(compared_computed_pico_usd) AS DECIMAL(38, 0)) AS computed_pico_usd,
    CAST(sum(difference_pico_usd) AS DECIMAL(38, 0)) AS difference_pico_usd,
    min(business_day) FILTER (difference_pico_usd <> 0) AS first_difference,
    max(business_day) FILTER (difference_pico_usd <> 0) AS last_difference
FROM reconciliation
WHERE business_day BETWEEN $first_day AND $last_day
GROUP BY provider, model
HAVING sum(billed_steps) > 0
ORDER BY abs(sum(difference_pico_usd)) DESC, provider, model
