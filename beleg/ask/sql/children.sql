-- Runs that the run started.
SELECT run_id, started_at, workflow, status, steps, unpriced_steps, cost_pico_usd
FROM run_costs
WHERE parent_run_id = $run_id
ORDER BY started_at, run_id
