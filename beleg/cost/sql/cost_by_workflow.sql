-- Cost per business day and workflow, of the newest days.
SELECT business_day, coalesce(workflow, '(unknown run)') AS workflow, CAST(sum(cost_pico_usd) AS VARCHAR) AS cost
FROM unit_costs
WHERE business_day > (SELECT max(business_day) FROM unit_costs) - CAST($days AS INTEGER)
GROUP BY ALL
ORDER BY ALL
