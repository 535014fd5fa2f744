-- The run's steps in order, each with the row of the price list that applied. The join is that of step_costs.sql.
WITH mine AS (
  SELECT
    s.event_time, s.source, s.event_id, s.step_id, s.parent_step_id, s.kind, s.name, s.tool_name, s.provider,
    s.endpoint_provider, s.api, s.model, s.service_tier, s.batch, s.response_id, s.attempt, s.attempt_reason,
    s.status, s.exception_class, s.latency_ms, s.input_hash, s.output_hash, s.toolset_hash, s.layout_hash,
    s.playbook, s.cache_miss_reason, s.convention, s.convention_evidence, s.usage_check, s.other_units,
    c.counted, c.not_counted_reason, c.unpriced_reason, c.cost_pico_usd, c.billed_pico_usd, c.total_input_tokens,
    s.input_uncached_tokens, s.cache_read_tokens, s.cache_write_5m_tokens, s.cache_write_1h_tokens,
    s.cache_write_tokens, s.output_tokens, s.reasoning_tokens, s.input_audio_tokens, s.cache_read_audio_tokens,
    s.output_audio_tokens, s.input_image_tokens, s.cache_read_image_tokens, s.output_image_tokens
  FROM (SELECT * FROM steps WHERE run_id = $run_id) AS s
  JOIN (SELECT * FROM step_costs WHERE run_id = $run_id) AS c USING (source, event_id)
)
SELECT m.*, k.price_key, r.* EXCLUDE (price_key)
FROM mine AS m
LEFT JOIN price_keys AS k
  ON m.provider IS NOT DISTINCT FROM k.provider AND m.model IS NOT DISTINCT FROM k.model
  AND m.service_tier IS NOT DISTINCT FROM k.service_tier AND m.batch IS NOT DISTINCT FROM k.batch
LEFT JOIN price_rows AS r
  ON k.price_key = r.price_key AND m.event_time >= r.valid_from AND m.event_time < r.valid_to
  AND hour(m.event_time) * 60 + minute(m.event_time) >= r.from_minute
  AND hour(m.event_time) * 60 + minute(m.event_time) < r.to_minute
  AND coalesce(m.total_input_tokens, 0) >= r.min_input_tokens
  AND coalesce(m.total_input_tokens, 0) <= r.max_input_tokens
ORDER BY m.event_time, m.source, m.event_id
