-- Playbooks by how often they were opened.
SELECT
  workflow,
  playbook,
  CAST(sum(openings) AS BIGINT) AS openings,
  CAST(sum(requests) AS BIGINT) AS requests,
  CAST(sum(failed_requests) AS BIGINT) AS failed_requests,
  CAST(sum(tool_calls) AS BIGINT) AS tool_calls,
  CAST(sum(failed_tool_calls) AS BIGINT) AS failed_tool_calls,
  CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
  CAST(sum(unpriced_requests) AS BIGINT) AS unpriced_requests
FROM playbook_hits
WHERE
  purpose = 'production' AND business_day BETWEEN $from_day AND $to_day
  AND ($workflow IS NULL OR workflow = $workflow)
GROUP BY workflow, playbook
ORDER BY openings DESC, requests DESC, workflow, playbook
