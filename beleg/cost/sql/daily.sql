-- What the steps of each UTC day cost.
SELECT
    CAST(day AS VARCHAR) AS day,
    count(*) AS steps,
    count(*) FILTER (WHERE NOT priced) AS unpriced_steps,
    CAST(coalesce(sum(cost_pico_usd), 0) AS DECIMAL(38, 0)) AS cost_pico_usd
FROM step_costs
GROUP BY day
ORDER BY day
