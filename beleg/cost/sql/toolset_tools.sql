-- The tools of each toolset in the order offered, as it was reported last. `tokens_before` are those of the tools
-- before it; a tool that is listed twice is one tool with the tokens of both.
WITH reported AS (
    SELECT toolset_hash, tools
    FROM toolsets
    QUALIFY row_number() OVER (PARTITION BY toolset_hash ORDER BY event_time DESC, source, event_id) = 1
),

listed AS (
    SELECT toolset_hash, generate_subscripts(tools, 1) AS place, unnest(tools) AS tool
    FROM reported
),

named AS (
    SELECT
        toolset_hash,
        min(place) AS place,
        tool.name AS tool_name,
        CASE WHEN count(*) = count(tool.tokens) THEN CAST(sum(tool.tokens) AS BIGINT) END AS definition_tokens,
        bool_or(tool.binding) AS binding
    FROM listed
    GROUP BY toolset_hash, tool.name
)

SELECT
    toolset_hash,
    row_number() OVER in_order AS place,
    tool_name,
    definition_tokens,
    binding,
    CAST(
        coalesce(sum(definition_tokens) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS BIGINT
    ) AS tokens_before
FROM named
WINDOW in_order AS (PARTITION BY toolset_hash ORDER BY place)
