-- For what people said by fingerprint: the run it counts for, which is the latest that started before it.
SELECT w.source, w.event_id, arg_max(r.run_id, (r.started_at, r.run_id)) AS counts_for
FROM (
  SELECT source, event_id, event_time, workflow, input_hash, output_hash FROM feedback WHERE run_id IS NULL
  UNION ALL
  SELECT source, event_id, event_time, workflow, input_hash, output_hash FROM corrections WHERE run_id IS NULL
) AS w
INNER JOIN run_costs AS r
  ON r.started_at <= w.event_time
  AND (w.workflow IS NULL OR w.workflow = r.workflow)
  AND (w.output_hash IS NULL OR w.output_hash = r.output_hash)
  AND (w.input_hash IS NULL OR w.input_hash = r.input_hash)
WHERE
  w.event_time >= $started_at AND (w.workflow IS NULL OR w.workflow = $workflow)
  AND (w.output_hash IS NULL OR w.output_hash = $output_hash)
  AND (w.input_hash IS NULL OR w.input_hash = $input_hash)
  AND (r.output_hash = $output_hash OR r.input_hash = $input_hash)
GROUP BY ALL
