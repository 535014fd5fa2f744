-- Sessions of coding agents by agent and project (a session's team), the dearest first. A project's cost is that
-- of all its sessions, so that cost / sessions is the unit cost under any grouping.
SELECT
  source AS agent,
  team AS project,
  count(*) AS sessions,
  CAST(sum(model_steps) AS BIGINT) AS calls,
  CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps,
  CAST(sum(input_uncached_tokens + cache_read_tokens + cache_write_tokens) AS DECIMAL(38, 0)) AS input_tokens,
  CAST(sum(cache_read_tokens) AS DECIMAL(38, 0)) AS cache_read_tokens,
  CAST(sum(output_tokens + reasoning_tokens) AS DECIMAL(38, 0)) AS output_tokens,
  CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd
FROM run_costs
WHERE list_contains($agents, source)
GROUP BY source, team
ORDER BY cost_pico_usd DESC, sessions DESC, agent, project
