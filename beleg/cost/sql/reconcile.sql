SELECT
    provider,
    model,
    CAST(sum(steps) AS BIGINT) AS steps,
    CAST(sum(billed_steps) AS BIGINT) AS billed_steps,
    CAST(sum(compared_steps) AS BIGINT) AS compared_steps,
    CAST(sum(equal_steps) AS BIGINT) AS equal_steps,
    CAST(sum(billed_unpriced_steps) AS BIGINT) AS billed_unpriced_steps,
    CAST(sum(unbilled_priced_steps) AS BIGINT) AS unbilled_priced_steps,
    CAST(sum(compared_billed_pico_usd) AS DECIMAL(38, 0)) AS compared_billed_pico_usd,
    CAST(sum(compared_computed_pico_usd) AS DECIMAL(38, 0)) AS compared_computed_pico_usd,
    CAST(sum(difference_pico_usd) AS DECIMAL(38, 0)) AS difference_pico_usd,
    CAST(sum(billed_unpriced_pico_usd) AS DECIMAL(38, 0)) AS billed_unpriced_pico_usd,
    CAST(sum(unbilled_computed_pico_usd) AS DECIMAL(38, 0)) AS unbilled_computed_pico_usd
FROM reconciliation
WHERE
    business_day BETWEEN $from_day AND $to_day
    AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
    AND ($workflow IS NULL OR workflow = $workflow)
GROUP BY provider, model
ORDER BY provider, model
