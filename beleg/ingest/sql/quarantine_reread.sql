-- Open lines of files that this ingest read again from before the line, and did not refuse again.
SELECT q.line_sha256, q.occurrence, q.file, q.byte_offset, q.line_number, q.length, r.lines
FROM quarantine_state AS q
JOIN reread AS r ON q.file = r.file AND q.byte_offset >= r.start AND q.mapping IS NOT DISTINCT FROM r.mapping
ANTI JOIN refused AS f ON f.line_sha256 = q.line_sha256 AND f.occurrence = q.occurrence
WHERE q.status = 'open'
ORDER BY q.file, q.byte_offset
