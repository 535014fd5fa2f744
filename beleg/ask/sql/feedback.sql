-- What people said of the run, by its id or by its fingerprints, and the one run that each word counts for.
SELECT
  b.event_time, b.rating, b.author_hash,
  CASE WHEN b.how = 'run_id' THEN 'run_id' ELSE 'fingerprint' END AS bound_by,
  b.candidates, b.changed_to, counted.run_id AS counts_for
FROM bindings AS b
INNER JOIN bindings AS counted
  ON b.kind = counted.kind AND b.source = counted.source AND b.event_id = counted.event_id AND counted.is_counted
WHERE b.kind = 'feedback' AND b.run_id = $run_id
ORDER BY b.event_time, b.source, b.event_id
