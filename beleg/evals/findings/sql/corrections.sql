-- The corrections of one finding, with what they say is right where the workflow stores values.
SELECT
    s.event_time, s.correction_id, s.field, s.run_id, s.how, s.candidates, s.input_ref, s.input_hash, c.expected,
    c.expected_hash, s.author_hash, s.decision, s.holds
FROM said AS s
INNER JOIN findings AS f
    ON s.workflow = f.workflow AND s.pattern = f.field AND s.reason = f.reason
    AND s.prompt_version IS NOT DISTINCT FROM f.prompt_version
INNER JOIN corrections AS c ON s.source = c.source AND s.event_id = c.event_id
WHERE f.finding_id = $finding_id
ORDER BY s.event_time, s.source, s.event_id
