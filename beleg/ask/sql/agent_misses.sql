-- Requests by what became of them in the prompt cache.
SELECT
  workflow,
  cause,
  detail,
  CAST(sum(requests) AS BIGINT) AS requests,
  CAST(sum(missed_tokens) AS DECIMAL(38, 0)) AS missed_tokens,
  CAST(sum(lost_pico_usd) AS DECIMAL(38, 0)) AS lost_pico_usd,
  CAST(sum(unknown_loss_requests) AS BIGINT) AS unknown_loss_requests,
  min(example_run_id) AS example_run_id
FROM cache_misses
WHERE
  purpose = 'production' AND business_day BETWEEN $from_day AND $to_day
  AND ($workflow IS NULL OR workflow = $workflow)
GROUP BY workflow, cause, detail
ORDER BY workflow, requests DESC, cause, detail
