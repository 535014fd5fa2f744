-- One run, one row, with the cost of the runs it started.
CREATE VIEW runs AS
WITH RECURSIVE children AS (
  SELECT run_id, parent_run_id, cost_pico_usd, unpriced_steps FROM run_costs WHERE parent_run_id IS NOT NULL
),
-- UNION, not UNION ALL: a cycle of parents ends instead of turning for ever.
descent AS (
  SELECT parent_run_id AS root, run_id FROM children
  UNION
  SELECT descent.root, children.run_id FROM descent JOIN children ON children.parent_run_id = descent.run_id
),
subtree AS (
  SELECT descent.root, sum(children.cost_pico_usd) AS below_pico_usd
  FROM descent JOIN children USING (run_id)
  WHERE descent.root <> descent.run_id
  GROUP BY descent.root
)
SELECT run_costs.*, CAST(run_costs.cost_pico_usd + coalesce(subtree.below_pico_usd, 0) AS DECIMAL(38, 0)) AS subtree_cost_pico_usd
FROM run_costs LEFT JOIN subtree ON subtree.root = run_costs.run_id
