-- What a person decided last about each correction or finding.
SELECT subject, decision
FROM reviews
WHERE decision IN ('accept', 'reject')
QUALIFY row_number() OVER (PARTITION BY subject ORDER BY event_time DESC, source DESC, event_id DESC) = 1
ORDER BY subject
