SELECT prompt_version AS name, CAST(sum(cache_read_tokens) AS BIGINT) AS found
FROM cache_misses
WHERE workflow = 'chat_copilot'
GROUP BY prompt_version
