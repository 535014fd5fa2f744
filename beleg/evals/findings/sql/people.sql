-- Who made the corrections of one finding that still hold.
SELECT s.author_hash, count(DISTINCT s.same_input) AS inputs, count(*) AS corrections
FROM said AS s
INNER JOIN findings AS f
    ON s.workflow = f.workflow AND s.pattern = f.field AND s.reason = f.reason
    AND s.prompt_version IS NOT DISTINCT FROM f.prompt_version
WHERE f.finding_id = $finding_id AND s.holds
GROUP BY s.author_hash
ORDER BY inputs DESC, s.author_hash
