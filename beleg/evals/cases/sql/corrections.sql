-- The corrections that were decided on, and what names another one: a chain may lead over some that were not.
SELECT
  source, correction_id, supersedes, field, reason, expected, expected_hash, author_hash, tenant, workflow, run_id,
  input_hash, output_hash, input_ref,
  strftime(revision AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS revised_at,
  strftime(event_time AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS at
FROM corrections
WHERE supersedes IS NOT NULL OR correction_id IN (SELECT unnest($ids))
ORDER BY event_time, source, correction_id, event_id
