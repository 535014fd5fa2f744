-- The runs that corrections are about, the one that counts last.
SELECT
  source, correction_id, how, unbound_reason, candidates, fingerprints_agree, run_id, run_day, workflow, tenant,
  feature, input_ref, input_hash, hash_key_id
FROM bindings
WHERE kind = 'correction' AND correction_id IN (SELECT unnest($ids))
ORDER BY is_counted, run_id
