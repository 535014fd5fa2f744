-- Runs that meet every condition given, newest first. Days are business days; partitions a day aside are read too,
-- since a zone is at most fourteen hours off.
SELECT
  r.run_id, r.started_at, r.workflow, r.purpose, r.status, r.tenant, r.prompt_version, r.model, r.input_ref,
  r.input_hash, r.output_hash, r.steps, r.unpriced_steps, r.latency_ms, r.cost_pico_usd
FROM run_costs AS r
WHERE
  r.day BETWEEN CAST($from_day AS DATE) - 1 AND CAST($to_day AS DATE) + 1
  AND CAST(r.started_at AT TIME ZONE $timezone AS DATE) BETWEEN $from_day AND $to_day
  AND ($workflow IS NULL OR r.workflow = $workflow)
  AND ($purpose IS NULL OR r.purpose = $purpose)
  AND ($status IS NULL OR r.status = $status)
  AND ($tenant IS NULL OR r.tenant = $tenant)
  AND ($prompt_version IS NULL OR r.prompt_version = $prompt_version)
  AND ($input_ref IS NULL OR r.input_ref = $input_ref)
  AND ($input_key IS NULL OR r.input_key = $input_key)
  AND ($input_hash IS NULL OR starts_with(r.input_hash, $input_hash))
  AND ($output_hash IS NULL OR starts_with(r.output_hash, $output_hash))
  AND ($min_pico_usd IS NULL OR r.cost_pico_usd >= $min_pico_usd)
  AND (
    $label IS NULL
    OR EXISTS (
      SELECT 1 FROM runs_started AS s
      WHERE s.run_id = r.run_id AND s.day = r.day AND s.labels[$label] IS NOT NULL
      AND ($label_value IS NULL OR s.labels[$label] = $label_value)
    )
  )
ORDER BY r.started_at DESC, r.run_id DESC
LIMIT $limit
