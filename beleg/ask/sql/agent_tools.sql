-- Each tool of each workflow over all its toolsets, the dearest first.
SELECT
  workflow,
  tool_name,
  count(DISTINCT cohort) AS cohorts,
  CAST(sum(offering_requests) AS BIGINT) AS offering_requests,
  CAST(sum(calls) AS BIGINT) AS calls,
  CAST(sum(failed_calls) AS BIGINT) AS failed_calls,
  CAST(sum(sent_tokens) AS DECIMAL(38, 0)) AS sent_tokens,
  CAST(sum(tax_pico_usd) AS DECIMAL(38, 0)) AS tax_pico_usd,
  CAST(sum(untaxed_requests) AS BIGINT) AS untaxed_requests,
  min(CASE WHEN offering_requests > 0 THEN business_day END) AS first_offered,
  max(CASE WHEN calls > 0 THEN business_day END) AS last_called
FROM tool_usage
WHERE
  purpose = 'production' AND business_day BETWEEN $from_day AND $to_day
  AND ($workflow IS NULL OR workflow = $workflow)
GROUP BY workflow, tool_name
ORDER BY tax_pico_usd DESC, sent_tokens DESC, workflow, tool_name
