-- Refused lines of this ingest with their identity. Equal lines of one file are counted through, those of
-- its earlier ingests included (a growing file is read in parts); a copy in another file is the same line.
CREATE OR REPLACE TEMP TABLE refused AS
WITH found AS (
  SELECT
    p.file, p.start, replace(p.file, '.open.jsonl', '.jsonl') AS stem, p.mapping,
    r.* EXCLUDE (part) REPLACE (r.line_number + p.first_line AS line_number)
  FROM rows AS r JOIN parts AS p USING (part)
),
before AS (
  SELECT f.stem, f.line_sha256, count(DISTINCT q.occurrence) AS earlier
  FROM (SELECT stem, line_sha256, min(start) AS start FROM found WHERE start > 0 GROUP BY ALL) AS f
  JOIN quarantine AS q ON q.line_sha256 = f.line_sha256
    AND replace(q.file, '.open.jsonl', '.jsonl') = f.stem AND q.byte_offset < f.start
  GROUP BY ALL
)
SELECT
  f.* EXCLUDE (stem),
  coalesce(b.earlier, 0)
    + row_number() OVER (PARTITION BY f.stem, f.line_sha256 ORDER BY f.byte_offset, f.line_number) AS occurrence
FROM found AS f LEFT JOIN before AS b USING (stem, line_sha256)
