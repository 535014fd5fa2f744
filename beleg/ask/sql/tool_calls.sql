-- What production requests of a period offered of each tool, and how often it was called.
SELECT
  tool_name AS tool,
  CAST(sum(coalesce(offering_requests, 0)) AS BIGINT) AS requests,
  CAST(sum(calls) AS BIGINT) AS calls,
  CAST(sum(sent_tokens) AS DECIMAL(38, 0)) AS tokens
FROM tool_usage
WHERE
  purpose = 'production' AND business_day BETWEEN $from_day AND $to_day
  AND month BETWEEN strftime($from_day, '%Y-%m') AND strftime($to_day, '%Y-%m')
GROUP BY tool_name
ORDER BY tool_name
