-- Cost of the steps whose run is known, and cost of the runs, over some partitions of one state of the lake.
SELECT
    CAST((SELECT coalesce(sum(cost_pico_usd), 0) FROM steps_there WHERE workflow IS NOT NULL) AS DECIMAL(38, 0)),
    CAST((SELECT coalesce(sum(cost_pico_usd), 0) FROM runs_there) AS DECIMAL(38, 0))
