-- What people said of the run, by its id or by its fingerprints.
SELECT source, event_id, event_time, rating, author_hash, CASE WHEN run_id IS NULL THEN 'fingerprint' ELSE 'run_id' END AS bound_by
FROM feedback
WHERE
  run_id = $run_id
  OR (
    run_id IS NULL AND event_time >= $started_at AND (workflow IS NULL OR workflow = $workflow)
    AND (output_hash IS NULL OR output_hash = $output_hash)
    AND (input_hash IS NULL OR input_hash = $input_hash)
  )
ORDER BY event_time, source, event_id
