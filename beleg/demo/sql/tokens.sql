SELECT
    model AS name,
    CAST(sum(
        coalesce(input_uncached_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_5m_tokens, 0)
        + coalesce(cache_write_1h_tokens, 0) + coalesce(cache_write_tokens, 0) + coalesce(output_tokens, 0)
        + coalesce(reasoning_tokens, 0)
    ) AS DECIMAL(38, 0)) AS found
FROM step_costs
WHERE counted AND kind = 'model'
GROUP BY model
