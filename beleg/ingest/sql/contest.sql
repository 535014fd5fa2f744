-- All versions of the identities that may occur twice, the winner marked. The latest revision wins; among
-- equal revisions the greatest content, so that neither order nor split nor repetition of files decides.
-- Of two equal versions the stored one stays: it knows which ingest brought it.
CREATE OR REPLACE TEMP TABLE contest AS
WITH versions AS (
  SELECT true AS is_new, * FROM incoming WHERE hash(source, event_id) IN (SELECT h FROM suspects)
  UNION ALL BY NAME
  SELECT false AS is_new, * FROM stored SEMI JOIN earlier USING (filename, file_row_number)
),
hashed AS (
  SELECT
    is_new, source, event_id, day, filename, file_row_number, ingest_id,
    coalesce(revision, event_time) AS revision,
    sha256(CAST(to_json(row(*COLUMNS(* EXCLUDE (is_new, ingest_id, filename, file_row_number)))) AS VARCHAR)) AS content_sha256
  FROM versions
)
SELECT *, row_number() OVER (
  PARTITION BY source, event_id
  ORDER BY revision DESC, content_sha256 DESC, is_new, ingest_id, filename, file_row_number
) = 1 AS wins
FROM hashed
