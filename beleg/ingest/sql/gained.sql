-- Incoming rows that the lake gains on the contested days.
SELECT * EXCLUDE (filename, file_row_number) FROM incoming
WHERE CAST(day AS VARCHAR) IN (SELECT day FROM contested_days)
  AND hash(source, event_id) NOT IN (SELECT h FROM suspects)
UNION ALL BY NAME
SELECT * EXCLUDE (filename, file_row_number) FROM incoming
SEMI JOIN (SELECT filename, file_row_number FROM contest WHERE is_new AND wins) USING (filename, file_row_number)
