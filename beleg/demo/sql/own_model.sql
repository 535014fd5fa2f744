SELECT 'cost_pico_usd' AS name, CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS found FROM step_costs WHERE model = $model
UNION ALL
SELECT 'billed_pico_usd', CAST(sum(billed_pico_usd) AS DECIMAL(38, 0)) FROM step_costs WHERE model = $model
