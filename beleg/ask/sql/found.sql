-- Days on which a run with that id started.
SELECT DISTINCT CAST(day AS VARCHAR) AS day FROM run_lookup WHERE run_key = CAST(md5_number_lower($run_id) >> 1 AS BIGINT)
