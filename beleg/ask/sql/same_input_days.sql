-- The latest days on which runs with that input started.
SELECT CAST(found.day AS VARCHAR) AS day
FROM (SELECT DISTINCT day FROM run_lookup WHERE input_prefix = substr($input_hash, 1, 12)) AS found
ORDER BY found.day DESC
LIMIT 3
