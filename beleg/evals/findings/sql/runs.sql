-- What a correction of a run needs to know of it; the latest last.
SELECT run_id, input_ref, input_hash, hash_key_id, workflow, tenant
FROM run_costs
WHERE run_id IN (SELECT unnest($run_ids)) OR input_ref IN (SELECT unnest($refs))
ORDER BY started_at, run_id
