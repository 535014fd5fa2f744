SELECT tool_name AS name, CAST(sum(calls) AS BIGINT) AS found
FROM tool_usage
GROUP BY tool_name
