-- Cached input of counted model calls. A call whose source is silent about the cache is in no share: unknown is not
-- zero. A call that reports anything cached is never silent, whichever modality it reports it for.
WITH calls AS (
    SELECT
        CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day,
        workflow,
        purpose,
        prompt_version,
        provider,
        model,
        coalesce(total_input_tokens, 0) AS input_tokens,
        cache_read_tokens IS NOT NULL OR cache_read_audio_tokens IS NOT NULL
        OR cache_read_image_tokens IS NOT NULL AS reports_reads,
        coalesce(cache_read_tokens, 0) + coalesce(cache_read_audio_tokens, 0)
        + coalesce(cache_read_image_tokens, 0) AS read_tokens,
        coalesce(cache_write_tokens, 0) + coalesce(cache_write_5m_tokens, 0)
        + coalesce(cache_write_1h_tokens, 0) AS write_tokens,
        cache_savings_pico_usd
    FROM step_costs
    WHERE counted AND kind = 'model'
)

SELECT
    business_day,
    workflow,
    purpose,
    prompt_version,
    provider,
    model,
    count(*) AS model_steps,
    count(CASE WHEN reports_reads THEN 1 END) AS reporting_steps,
    count(CASE WHEN read_tokens > 0 THEN 1 END) AS hit_steps,
    CAST(sum(input_tokens) AS DECIMAL(38, 0)) AS input_tokens,
    CAST(coalesce(sum(CASE WHEN reports_reads THEN input_tokens END), 0) AS DECIMAL(38, 0)) AS reported_input_tokens,
    CAST(sum(read_tokens) AS DECIMAL(38, 0)) AS cache_read_tokens,
    CAST(sum(write_tokens) AS DECIMAL(38, 0)) AS cache_write_tokens,
    CAST(coalesce(sum(cache_savings_pico_usd), 0) AS DECIMAL(38, 0)) AS net_savings_pico_usd,
    count(CASE WHEN read_tokens + write_tokens > 0 AND cache_savings_pico_usd IS NULL THEN 1 END)
    AS unknown_savings_steps,
    strftime(business_day, '%Y-%m') AS month
FROM calls
WHERE strftime(business_day, '%Y-%m') IN (SELECT month FROM targets)
GROUP BY business_day, workflow, purpose, prompt_version, provider, model
ORDER BY business_day, workflow, purpose, prompt_version, provider, model
