-- Runs whose input or output differs from the earlier one, newest first.
SELECT
  run_id, started_at, workflow, purpose, tenant, prompt_version, model, input_key,
  input_changed, key_run_id, key_started_at, key_input_hash, input_hash,
  output_changed, answer_run_id, answer_started_at, answer_output_hash, output_hash
FROM drift
WHERE
  (input_changed OR output_changed)
  AND business_day BETWEEN $from_day AND $to_day
  AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
  AND ($workflow IS NULL OR workflow = $workflow)
  AND ($input_key IS NULL OR input_key = $input_key)
ORDER BY started_at DESC, run_id DESC
LIMIT $limit
