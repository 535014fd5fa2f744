-- Production runs of each workflow against the width of its tool surface, and what that surface cost.
WITH traffic AS (
  SELECT
    workflow,
    CAST(sum(runs) AS BIGINT) AS runs,
    CAST(sum(offered_runs) AS BIGINT) AS offered_runs,
    CAST(sum(offered_tools) AS BIGINT) AS offered_tools,
    max(max_tools_offered) AS max_tools_offered,
    max(max_tools_called) AS max_tools_called
  FROM workflow_traffic
  WHERE purpose = 'production' AND business_day BETWEEN $from_day AND $to_day AND runs > 0
  GROUP BY workflow
),

-- Every tool of a toolset is offered by the same requests.
toolsets AS (
  SELECT
    workflow,
    max(offering_requests) AS requests,
    max(untaxed_requests) AS untaxed_requests,
    sum(sent_tokens) AS sent_tokens,
    sum(tax_pico_usd) AS tax_pico_usd
  FROM tool_usage
  WHERE purpose = 'production' AND business_day BETWEEN $from_day AND $to_day
  GROUP BY workflow, business_day, feature, contract_version, prompt_version, toolset_hash
),

taxes AS (
  SELECT
    workflow,
    CAST(sum(requests) AS BIGINT) AS offering_requests,
    CAST(sum(untaxed_requests) AS BIGINT) AS untaxed_requests,
    CAST(sum(sent_tokens) AS DECIMAL(38, 0)) AS sent_tokens,
    CAST(sum(tax_pico_usd) AS DECIMAL(38, 0)) AS tax_pico_usd
  FROM toolsets
  GROUP BY workflow
)

SELECT t.*, x.offering_requests, x.untaxed_requests, x.sent_tokens, x.tax_pico_usd
FROM traffic AS t
LEFT JOIN taxes AS x ON t.workflow = x.workflow
WHERE $workflow IS NULL OR t.workflow = $workflow
ORDER BY t.runs DESC, t.workflow
