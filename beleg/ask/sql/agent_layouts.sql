-- The cache under each layout, in the order of their first day. Whether a layout holds is told by the warm requests
-- alone: those for which something was there that could be read.
SELECT
  workflow,
  prompt_version,
  layout_hash,
  min(business_day) AS first_day,
  max(business_day) AS last_day,
  CAST(sum(requests) AS BIGINT) AS requests,
  CAST(sum(input_tokens) AS DECIMAL(38, 0)) AS input_tokens,
  CAST(sum(cache_read_tokens) AS DECIMAL(38, 0)) AS cache_read_tokens,
  CAST(coalesce(sum(CASE WHEN cause = 'hit' THEN requests END), 0) AS BIGINT) AS hit_requests,
  CAST(
    coalesce(sum(CASE WHEN cause NOT IN ('first_use', 'expired', 'below_minimum', 'no_breakpoint') THEN requests END), 0)
    AS BIGINT
  ) AS warm_requests,
  CAST(sum(lost_pico_usd) AS DECIMAL(38, 0)) AS lost_pico_usd
FROM cache_misses
WHERE
  purpose = 'production' AND business_day BETWEEN $from_day AND $to_day
  AND ($workflow IS NULL OR workflow = $workflow)
GROUP BY workflow, prompt_version, layout_hash
ORDER BY workflow, first_day, prompt_version, layout_hash
