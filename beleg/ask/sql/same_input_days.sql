-- The latest days on which runs with that input started.
SELECT CAST(found.day AS VARCHAR) AS day
FROM (SELECT DISTINCT day FROM run_lookup WHERE same_input = CAST('0x' || left($input_hash, 15) AS BIGINT)) AS found
ORDER BY found.day DESC
LIMIT 3
