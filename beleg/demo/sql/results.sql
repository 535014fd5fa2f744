SELECT workflow AS name, CAST(sum(results) AS DECIMAL(38, 0)) AS found
FROM unit_costs
WHERE purpose = 'production'
GROUP BY workflow
