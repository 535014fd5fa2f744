-- One row where a workflow had a run in the period.
SELECT 1 AS found
FROM unit_costs
WHERE
  workflow = $workflow AND runs > 0 AND business_day BETWEEN $from_day AND $to_day
  AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
LIMIT 1
