-- Cost of all purposes per $bucket (day, week or month) and workflow.
SELECT
    CAST(date_trunc($bucket, business_day) AS DATE) AS bucket_start,
    workflow,
    CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd
FROM unit_costs
WHERE business_day BETWEEN $first_day AND $last_day
GROUP BY ALL
HAVING sum(cost_pico_usd) > 0
ORDER BY bucket_start, workflow
