-- Corrections that stand and that nobody decided on, the newest first.
SELECT correction_id, workflow, field, reason, run_id, unbound_reason, event_time
FROM bindings
WHERE kind = 'correction' AND holds AND decision IS NULL AND (is_counted OR run_id IS NULL)
ORDER BY event_time DESC, source, correction_id
LIMIT $limit
