-- What the model had to hold under each contract version and by each cohort, versions in the order of their first day.
SELECT
  workflow,
  feature,
  contract_version,
  cohort,
  min(business_day) AS first_day,
  max(business_day) AS last_day,
  CAST(sum(requests) AS BIGINT) AS requests,
  CAST(sum(tool_requests) AS BIGINT) AS tool_requests,
  CAST(sum(offered_tools) AS BIGINT) AS offered_tools,
  CAST(sum(counted_tool_requests) AS BIGINT) AS counted_tool_requests,
  CAST(sum(tool_tokens) AS BIGINT) AS tool_tokens,
  CAST(sum(layout_requests) AS BIGINT) AS layout_requests,
  CAST(sum(instruction_tokens) AS BIGINT) AS instruction_tokens,
  CAST(sum(index_tokens) AS BIGINT) AS index_tokens,
  CAST(sum(measured_body_requests) AS BIGINT) AS measured_body_requests,
  CAST(sum(body_tokens) AS BIGINT) AS body_tokens,
  CAST(sum(held_requests) AS BIGINT) AS held_requests,
  CAST(sum(held_tokens) AS BIGINT) AS held_tokens,
  max(max_held_tokens) AS max_held_tokens
FROM held_tokens
WHERE
  purpose = 'production' AND business_day BETWEEN $from_day AND $to_day
  AND ($workflow IS NULL OR workflow = $workflow)
GROUP BY workflow, feature, contract_version, cohort
ORDER BY workflow, feature, first_day, contract_version, cohort
