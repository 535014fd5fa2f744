-- Each toolset as a whole; its tokens are null where those of one of its tools are.
SELECT
    t.toolset_hash,
    t.cohort,
    count(s.tool_name) AS tools,
    CASE
        WHEN count(s.tool_name) = count(s.definition_tokens)
            THEN CAST(coalesce(sum(s.definition_tokens), 0) AS BIGINT)
    END AS tool_tokens
FROM (
    SELECT toolset_hash, cohort
    FROM toolsets
    QUALIFY row_number() OVER (PARTITION BY toolset_hash ORDER BY event_time DESC, source, event_id) = 1
) AS t
LEFT JOIN toolset_tools AS s ON t.toolset_hash = s.toolset_hash
GROUP BY t.toolset_hash, t.cohort
