-- What only the start of a run tells; of several reports the earliest holds.
SELECT run_id, labels, input_key, canon_version
FROM runs_started
WHERE run_id IN (SELECT unnest($ids))
QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY event_time, source, event_id) = 1
