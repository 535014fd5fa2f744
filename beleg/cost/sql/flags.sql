SELECT * EXCLUDE (month)
FROM flags
WHERE
    business_day BETWEEN $from_day AND $to_day
    AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
    AND ($kind IS NULL OR kind = $kind)
    AND ($workflow IS NULL OR workflow = $workflow)
ORDER BY business_day, kind, workflow, tenant, run_id
