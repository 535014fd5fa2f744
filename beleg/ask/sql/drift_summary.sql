-- Per workflow and purpose: what was compared, what differed, and since when.
SELECT
  workflow, purpose,
  count(input_changed) AS same_key_runs,
  count(CASE WHEN NOT input_changed THEN 1 END) AS retriggered_runs,
  count(CASE WHEN input_changed THEN 1 END) AS input_changed_runs,
  min(CASE WHEN input_changed THEN started_at END) AS input_changed_first_at,
  max(CASE WHEN input_changed THEN started_at END) AS input_changed_last_at,
  count(output_changed) AS same_input_runs,
  count(CASE WHEN output_changed THEN 1 END) AS output_changed_runs,
  min(CASE WHEN output_changed THEN started_at END) AS output_changed_first_at,
  max(CASE WHEN output_changed THEN started_at END) AS output_changed_last_at
FROM drift
WHERE
  business_day BETWEEN $from_day AND $to_day
  AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
  AND ($workflow IS NULL OR workflow = $workflow)
  AND ($input_key IS NULL OR input_key = $input_key)
GROUP BY workflow, purpose
ORDER BY workflow, purpose
