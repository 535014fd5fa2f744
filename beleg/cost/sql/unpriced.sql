-- What has no price, by what decides a price: one row for each name, service tier, batch and reason.
SELECT
    provider,
    model,
    service_tier,
    coalesce(batch, FALSE) AS batch,
    unpriced_reason,
    count(*) AS steps,
    min(event_time) AS first_at,
    max(event_time) AS last_at,
    /*tokens*/
FROM step_costs
WHERE counted AND NOT priced
GROUP BY ALL
ORDER BY steps DESC, provider, model, service_tier, batch, unpriced_reason
