-- The first request of each run that names its toolset: model, what its tools and the other counted segments of its layout
-- were estimated at, and all input tokens as reported. The first, since a conversation adds what nobody counted.
WITH reported_toolsets AS (
  SELECT toolset_hash, tools
  FROM toolsets
  QUALIFY row_number() OVER (PARTITION BY toolset_hash ORDER BY event_time DESC, source, event_id) = 1
),

listed_tools AS (
  SELECT toolset_hash, unnest(tools) AS tool FROM reported_toolsets
),

tool_tokens AS (
  SELECT toolset_hash, CAST(sum(tool.tokens) AS BIGINT) AS tokens
  FROM listed_tools
  GROUP BY toolset_hash
),

reported_layouts AS (
  SELECT layout_hash, segments
  FROM layouts
  QUALIFY row_number() OVER (PARTITION BY layout_hash ORDER BY event_time DESC, source, event_id) = 1
),

listed_segments AS (
  SELECT layout_hash, unnest(segments) AS segment FROM reported_layouts
),

other_tokens AS (
  SELECT layout_hash, CAST(sum(segment.tokens) AS BIGINT) AS tokens
  FROM listed_segments
  WHERE NOT regexp_matches(segment.name, '^(.*_)?tools(\[.*)?$')
  GROUP BY layout_hash
),

first_requests AS (
  SELECT model, toolset_hash, layout_hash, total_input_tokens
  FROM step_costs
  WHERE kind = 'model' AND counted AND toolset_hash IS NOT NULL AND total_input_tokens > 0
  QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY event_time, source, event_id) = 1
)

SELECT
  f.model,
  f.toolset_hash,
  t.tokens AS tool_tokens,
  coalesce(o.tokens, 0) AS other_tokens,
  f.total_input_tokens AS input_tokens
FROM first_requests AS f
INNER JOIN tool_tokens AS t ON f.toolset_hash = t.toolset_hash
LEFT JOIN other_tokens AS o ON f.layout_hash = o.layout_hash
ORDER BY f.model, f.toolset_hash, tool_tokens, other_tokens, input_tokens
