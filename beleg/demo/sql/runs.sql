SELECT workflow AS name, CAST(count(*) AS BIGINT) AS found FROM run_costs GROUP BY workflow
