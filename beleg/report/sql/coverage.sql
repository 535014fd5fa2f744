-- Calls without a price, by reason and model; a tool that reports no usage needs none.
SELECT
    unpriced_reason,
    provider,
    model,
    count(*) AS calls,
    count(*) FILTER (kind <> 'model') AS other_calls,
    CAST(sum(total_input_tokens) AS DECIMAL(38, 0)) AS input_tokens
FROM step_costs
WHERE NOT priced
    AND counted
    AND CAST(event_time AT TIME ZONE $timezone AS DATE) BETWEEN $first_day AND $last_day
GROUP BY unpriced_reason, provider, model
ORDER BY calls DESC, unpriced_reason, provider, model
