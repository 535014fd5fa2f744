-- Share of the input that came from a prompt cache, over calls whose source says so, and what that saved.
-- Hit share = cache_read_tokens / reported_input_tokens.
SELECT
    workflow,
    provider,
    model,
    CAST(sum(model_steps) AS BIGINT) AS calls,
    CAST(sum(cache_read_tokens) AS DECIMAL(38, 0)) AS cache_read_tokens,
    CAST(sum(reported_input_tokens) AS DECIMAL(38, 0)) AS reported_input_tokens,
    CAST(sum(net_savings_pico_usd) AS DECIMAL(38, 0)) AS net_savings_pico_usd,
    CAST(sum(unknown_savings_steps) AS BIGINT) AS unknown_savings_calls
FROM cache_efficiency
WHERE business_day BETWEEN $first_day AND $last_day
GROUP BY workflow, provider, model
HAVING sum(reporting_steps) > 0
ORDER BY net_savings_pico_usd DESC, calls DESC, workflow, provider, model
