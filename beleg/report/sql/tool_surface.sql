-- Production runs of each workflow against the width of what they were offered. Idle are tools that requests offered and
-- nobody called in the period; their tax is what they cost in it.
WITH tools AS (
    SELECT
        workflow,
        tool_name,
        sum(offering_requests) AS offering_requests,
        sum(calls) AS calls,
        sum(tax_pico_usd) AS tax_pico_usd,
        sum(untaxed_requests) AS untaxed_requests
    FROM tool_usage
    WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
    GROUP BY workflow, tool_name
),

taxes AS (
    SELECT
        workflow,
        count(*) FILTER (offering_requests > 0) AS tools,
        count(*) FILTER (offering_requests > 0 AND calls = 0) AS idle_tools,
        coalesce(sum(offering_requests), 0) AS offers,
        coalesce(sum(untaxed_requests), 0) AS untaxed_offers,
        sum(tax_pico_usd) AS tax_pico_usd,
        sum(tax_pico_usd) FILTER (offering_requests > 0 AND calls = 0) AS idle_tax_pico_usd
    FROM tools
    GROUP BY workflow
),

held AS (
    SELECT workflow, sum(held_tokens) AS held_tokens, sum(held_requests) AS held_requests
    FROM held_tokens
    WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
    GROUP BY workflow
),

traffic AS (
    SELECT
        workflow,
        sum(runs) AS runs,
        sum(offered_tools) AS offered_tools,
        sum(offered_runs) AS offered_runs,
        max(max_tools_called) AS tools_called
    FROM workflow_traffic
    WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
    GROUP BY workflow
    HAVING sum(runs) > 0
)

SELECT
    t.*,
    x.tools,
    x.idle_tools,
    x.offers,
    x.untaxed_offers,
    x.tax_pico_usd,
    coalesce(x.idle_tax_pico_usd, 0) AS idle_tax_pico_usd,
    h.held_tokens,
    h.held_requests
FROM traffic AS t
LEFT JOIN taxes AS x ON t.workflow = x.workflow
LEFT JOIN held AS h ON t.workflow = h.workflow
ORDER BY t.runs DESC, t.workflow
