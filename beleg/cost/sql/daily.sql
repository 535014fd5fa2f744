-- What the steps of each UTC day cost; calls are those that need a price, as in the metric price_coverage.
SELECT
    CAST(day AS VARCHAR) AS day,
    count(*) FILTER (WHERE counted AND (kind = 'model' OR NOT priced)) AS calls,
    count(*) FILTER (WHERE counted AND NOT priced) AS unpriced_calls,
    CAST(coalesce(sum(cost_pico_usd), 0) AS DECIMAL(38, 0)) AS cost_pico_usd
FROM step_costs
GROUP BY day
ORDER BY day
