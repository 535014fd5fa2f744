SELECT toolset_hash AS name, CAST(sum(offering_requests) AS BIGINT) AS found
FROM tool_usage
WHERE place = 1
GROUP BY toolset_hash
