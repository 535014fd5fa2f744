-- Earlier runs of the same input, latest first. Fingerprints mean the same only under one hash key.
SELECT
  run_id, started_at, workflow, status, prompt_version, model, output_hash, cost_pico_usd,
  output_hash = $output_hash AS same_output
FROM run_costs
WHERE
  input_hash = $input_hash AND hash_key_id IS NOT DISTINCT FROM $hash_key_id
  AND (started_at < $started_at OR (started_at = $started_at AND run_id < $run_id))
ORDER BY started_at DESC, run_id DESC
LIMIT 5
