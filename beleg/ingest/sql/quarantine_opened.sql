-- Refused lines that are not open already, each once.
SELECT
  line_sha256, occurrence, file, byte_offset, line_number, length, reason, detail, mapping,
  'open' AS status, NULL AS resolution, $recorded_at::TIMESTAMPTZ AS recorded_at, $ingest_id AS ingest_id
FROM refused
ANTI JOIN (SELECT line_sha256, occurrence FROM quarantine_state WHERE status = 'open') USING (line_sha256, occurrence)
QUALIFY row_number() OVER (PARTITION BY line_sha256, occurrence ORDER BY file, byte_offset) = 1
