-- Corrections of the run, by its id or by its fingerprints; what a later one replaced is told, and what a person decided.
SELECT
  c.source, c.event_id, c.event_time, c.correction_id, c.field, c.reason, c.expected, c.expected_hash, c.author_hash,
  CASE WHEN c.run_id IS NULL THEN 'fingerprint' ELSE 'run_id' END AS bound_by,
  (
    SELECT min(later.correction_id)
    FROM corrections AS later
    WHERE later.source = c.source AND later.supersedes = c.correction_id
  ) AS superseded_by,
  (
    SELECT arg_max(r.decision, (r.event_time, r.source, r.event_id))
    FROM reviews AS r
    WHERE r.subject = c.correction_id AND r.decision IN ('accept', 'reject') AND r.day >= c.day
  ) AS decision
FROM corrections AS c
WHERE
  c.run_id = $run_id
  OR (
    c.run_id IS NULL AND c.event_time >= $started_at AND (c.workflow IS NULL OR c.workflow = $workflow)
    AND (c.output_hash IS NULL OR c.output_hash = $output_hash)
    AND (c.input_hash IS NULL OR c.input_hash = $input_hash)
  )
ORDER BY c.event_time, c.source, c.event_id
