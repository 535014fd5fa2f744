-- Lines that add up to the total: production by workflow, every other purpose as a line of its own.
SELECT
    CASE WHEN purpose = 'production' THEN workflow END AS line,
    purpose,
    CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd
FROM unit_costs
WHERE business_day BETWEEN $first_day AND $last_day
GROUP BY CASE WHEN purpose = 'production' THEN workflow END, purpose
ORDER BY purpose IS DISTINCT FROM 'production', cost_pico_usd DESC, line, purpose
