-- Of the contested versions: `duplicates` came again unchanged, `superseded` lost to another version.
-- For each identity: stored rows after = stored rows before + incoming - duplicates - superseded.
SELECT
  CAST(coalesce(sum(incoming - unknown), 0) AS BIGINT) AS duplicates,
  CAST(coalesce(sum(contents - 1), 0) AS BIGINT) AS superseded
FROM (
  SELECT
    count(*) FILTER (WHERE is_new) AS incoming,
    count(DISTINCT content_sha256) AS contents,
    count(DISTINCT content_sha256) - count(DISTINCT content_sha256) FILTER (WHERE NOT is_new) AS unknown
  FROM contest
  GROUP BY source, event_id
)
