-- Counted calls that carry a cost which their source computed itself, beside ours.
SELECT
    CAST(c.event_time AT TIME ZONE $timezone AS DATE) AS business_day,
    c.source,
    c.workflow,
    c.run_id,
    c.step_id,
    c.provider,
    c.model,
    c.service_tier,
    c.batch,
    c.event_time,
    c.cost_pico_usd,
    CAST(s.raw_usage['source_cost_pico_usd'] AS BIGINT) AS source_pico_usd,
    s.convention_evidence,
    s.raw_usage['response_cache_hit'] IS NOT NULL AS is_cached_answer,
    /*tokens*/
FROM step_costs AS c
INNER JOIN steps AS s ON c.day = s.day AND c.source = s.source AND c.event_id = s.event_id
WHERE
    c.counted
    AND s.raw_usage['source_cost_pico_usd'] IS NOT NULL
    AND CAST(c.event_time AT TIME ZONE $timezone AS DATE) BETWEEN $from_day AND $to_day
    AND ($workflow IS NULL OR c.workflow = $workflow)
ORDER BY business_day, c.source, c.event_id
