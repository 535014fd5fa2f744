-- First and last business day with anything to report.
SELECT min(business_day) AS first_day, max(business_day) AS last_day
FROM unit_costs
