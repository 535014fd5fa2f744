SELECT *
FROM findings
WHERE finding_id = $finding_id OR (length($finding_id) >= 6 AND starts_with(finding_id, $finding_id))
ORDER BY finding_id
