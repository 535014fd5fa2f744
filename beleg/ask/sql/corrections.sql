-- Corrections of the run, by its id or by its fingerprints: what a later one replaced is told, what a person decided,
-- and the one run that each counts for.
SELECT
  c.event_time, c.correction_id, c.field, c.reason, c.expected, c.expected_hash, c.author_hash,
  CASE WHEN b.how = 'run_id' THEN 'run_id' ELSE 'fingerprint' END AS bound_by,
  b.candidates, b.superseded_by, b.changed_to, b.decision, counted.run_id AS counts_for
FROM bindings AS b
INNER JOIN corrections AS c ON b.source = c.source AND b.event_id = c.event_id
INNER JOIN bindings AS counted
  ON b.kind = counted.kind AND b.source = counted.source AND b.event_id = counted.event_id AND counted.is_counted
WHERE b.kind = 'correction' AND b.run_id = $run_id
ORDER BY c.event_time, c.source, c.event_id
