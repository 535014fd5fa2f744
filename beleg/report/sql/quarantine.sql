-- Lines that ingest refused and that are still open, whatever their day: an unreadable line has none.
SELECT reason, count(*) AS lines, count(DISTINCT file) AS files
FROM (
    SELECT *
    FROM quarantine
    QUALIFY row_number() OVER (PARTITION BY line_sha256, occurrence ORDER BY recorded_at DESC) = 1
)
WHERE status = 'open'
GROUP BY reason
ORDER BY lines DESC, reason
