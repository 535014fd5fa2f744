SELECT event_time, kind, content, content_hash
FROM artifacts
WHERE run_id = $run_id
ORDER BY event_time, source, event_id
