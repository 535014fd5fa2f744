-- Days on which a run with that id started.
SELECT DISTINCT CAST(day AS VARCHAR) AS day FROM run_lookup WHERE run_key = CAST('0x' || left(md5($run_id), 15) AS BIGINT)
