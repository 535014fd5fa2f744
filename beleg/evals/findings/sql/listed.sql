-- Findings that a person has not turned down, or every group.
SELECT *
FROM findings
WHERE
    ($workflow IS NULL OR workflow = $workflow)
    AND ($everything OR (kind = 'finding' AND status <> 'rejected') OR status = 'accepted')
ORDER BY
    CASE kind WHEN 'finding' THEN 1 WHEN 'watch' THEN 2 WHEN 'slip' THEN 3 ELSE 4 END,
    inputs DESC, workflow, field, reason, version_place
