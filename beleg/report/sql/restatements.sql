-- Complete days whose figures changed after they were published, per $bucket (day, week or month) and reason.
SELECT
    CAST(date_trunc($bucket, business_day) AS DATE) AS bucket_start,
    min(business_day) AS first_day,
    max(business_day) AS last_day,
    reason,
    CAST(coalesce(sum(delta) FILTER (figure = 'cost_pico_usd'), 0) AS DECIMAL(38, 0)) AS cost_pico_usd,
    CAST(coalesce(sum(delta) FILTER (figure = 'runs'), 0) AS DECIMAL(38, 0)) AS runs,
    CAST(coalesce(sum(delta) FILTER (figure = 'results'), 0) AS DECIMAL(38, 0)) AS results,
    CAST(coalesce(sum(delta) FILTER (figure = 'unpriced_steps'), 0) AS DECIMAL(38, 0)) AS unpriced_steps,
    max(restated_at) AT TIME ZONE $timezone AS last_restated_at
FROM restatements
WHERE business_day BETWEEN $first_day AND $last_day
GROUP BY bucket_start, reason
ORDER BY bucket_start DESC, reason
