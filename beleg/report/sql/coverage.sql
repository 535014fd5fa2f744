-- Calls that need a price, by whether they have one; a tool that reports no usage needs none.
SELECT
    unpriced_reason,
    CASE WHEN NOT priced THEN provider END AS provider,
    CASE WHEN NOT priced THEN model END AS model,
    count(*) AS calls,
    CAST(sum(total_input_tokens) AS DECIMAL(38, 0)) AS input_tokens
FROM step_costs
WHERE counted
    AND (kind = 'model' OR NOT priced)
    AND CAST(event_time AT TIME ZONE $timezone AS DATE) BETWEEN $first_day AND $last_day
GROUP BY ALL
ORDER BY calls DESC, unpriced_reason, provider, model
