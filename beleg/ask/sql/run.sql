-- The run with what only its start says: labels, contract digest, canonical encoding.
SELECT run_costs.*, started.labels, started.canon_version, started.contract_digest
FROM run_costs
LEFT JOIN (
  SELECT * FROM runs_started WHERE run_id = $run_id ORDER BY event_time, source, event_id LIMIT 1
) AS started USING (run_id)
WHERE run_costs.run_id = $run_id
