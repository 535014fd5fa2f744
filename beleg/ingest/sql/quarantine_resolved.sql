-- Lines that are good now, as a new row each.
SELECT
  q.* REPLACE (
    'resolved' AS status, r.resolution AS resolution, $recorded_at::TIMESTAMPTZ AS recorded_at, $ingest_id AS ingest_id
  )
FROM quarantine_state AS q JOIN resolved AS r USING (line_sha256, occurrence)
