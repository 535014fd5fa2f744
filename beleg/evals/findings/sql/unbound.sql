-- Words that are bound to no run, with what they name.
SELECT
    b.kind, b.source, b.event_id, b.event_time, b.workflow, b.tenant, w.run_id, w.input_hash, w.output_hash,
    b.unbound_reason AS reason
FROM bindings AS b
INNER JOIN (
    SELECT 'feedback' AS kind, source, event_id, run_id, input_hash, output_hash FROM feedback
    UNION ALL
    SELECT 'correction' AS kind, source, event_id, run_id, input_hash, output_hash FROM corrections
) AS w ON b.kind = w.kind AND b.source = w.source AND b.event_id = w.event_id
WHERE b.unbound_reason IS NOT NULL AND ($workflow IS NULL OR b.workflow = $workflow)
ORDER BY b.event_time DESC, b.kind, b.source, b.event_id
