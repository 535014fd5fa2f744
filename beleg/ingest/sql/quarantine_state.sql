-- The latest state of every refused line; `quarantine` is the table as stored.
CREATE OR REPLACE TEMP VIEW quarantine_state AS
SELECT * EXCLUDE (latest)
FROM (
  SELECT *, row_number() OVER (PARTITION BY line_sha256, occurrence ORDER BY recorded_at DESC) AS latest
  FROM quarantine
)
WHERE latest = 1
