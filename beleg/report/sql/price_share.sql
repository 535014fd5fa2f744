-- Model calls, each of which needs a price; other calls need one only where they report usage.
SELECT CAST(coalesce(sum(model_steps), 0) AS BIGINT) AS model_calls
FROM unit_costs
WHERE business_day BETWEEN $first_day AND $last_day
