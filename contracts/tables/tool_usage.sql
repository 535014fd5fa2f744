-- What each tool cost and whether it was used. Definitions stand at the start of the prompt, so a request read the first
-- of them from the cache, wrote the next to it, and paid the rest at the full price: cache, 1 h write, 5 min write, write
-- of unknown lifetime, uncached. Requests that agree on all of that are counted before they meet the tools.
WITH steps AS (
    SELECT
        CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day,
        event_time,
        source,
        event_id,
        run_id,
        workflow,
        purpose,
        feature,
        contract_version,
        prompt_version,
        kind,
        status,
        tool_name,
        toolset_hash,
        total_input_tokens,
        coalesce(cache_read_tokens, 0) AS read_tokens,
        coalesce(cache_write_1h_tokens, 0) AS write_1h_tokens,
        coalesce(cache_write_5m_tokens, 0) AS write_5m_tokens,
        coalesce(cache_write_tokens, 0) AS write_tokens,
        coalesce(input_uncached_tokens, 0) AS uncached_tokens,
        CASE WHEN priced THEN input_uncached_price_pico_usd END AS uncached_price,
        cache_read_price_pico_usd AS read_price,
        cache_write_1h_price_pico_usd AS write_1h_price,
        cache_write_5m_price_pico_usd AS write_5m_price,
        cache_write_price_pico_usd AS write_price
    FROM step_costs
    WHERE counted AND ((kind = 'model' AND toolset_hash IS NOT NULL) OR (kind = 'tool' AND tool_name IS NOT NULL))
),

wanted AS (
    SELECT * FROM steps WHERE strftime(business_day, '%Y-%m') IN (SELECT month FROM targets)
),

-- Where each kind of input ends, counted from the start of the prompt and no further than the definitions reach.
spans AS (
    SELECT
        w.business_day,
        w.workflow,
        w.purpose,
        w.feature,
        w.contract_version,
        w.prompt_version,
        w.toolset_hash,
        w.total_input_tokens IS NOT NULL AND w.uncached_price IS NOT NULL AS is_priced,
        least(z.tool_tokens, w.read_tokens) AS read_end,
        least(z.tool_tokens, w.read_tokens + w.write_1h_tokens) AS write_1h_end,
        least(z.tool_tokens, w.read_tokens + w.write_1h_tokens + w.write_5m_tokens) AS write_5m_end,
        least(z.tool_tokens, w.read_tokens + w.write_1h_tokens + w.write_5m_tokens + w.write_tokens) AS write_end,
        least(
            z.tool_tokens,
            w.read_tokens + w.write_1h_tokens + w.write_5m_tokens + w.write_tokens + w.uncached_tokens
        ) AS input_end,
        coalesce(w.read_price, 0) AS read_price,
        coalesce(w.write_1h_price, 0) AS write_1h_price,
        coalesce(w.write_5m_price, 0) AS write_5m_price,
        coalesce(w.write_price, 0) AS write_price,
        coalesce(w.uncached_price, 0) AS uncached_price
    FROM wanted AS w
    LEFT JOIN toolset_sizes AS z ON w.toolset_hash = z.toolset_hash
    WHERE w.kind = 'model'
),

alike AS (
    SELECT
        business_day, workflow, purpose, feature, contract_version, prompt_version, toolset_hash,
        is_priced, read_end, write_1h_end, write_5m_end, write_end, input_end,
        read_price, write_1h_price, write_5m_price, write_price, uncached_price,
        count(*) AS requests
    FROM spans
    GROUP BY
        business_day, workflow, purpose, feature, contract_version, prompt_version, toolset_hash,
        is_priced, read_end, write_1h_end, write_5m_end, write_end, input_end,
        read_price, write_1h_price, write_5m_price, write_price, uncached_price
),

-- A tool reaches from `begins` to `ends`; of each kind of input it holds what lies between both.
placed AS (
    SELECT
        a.*,
        t.tool_name,
        t.definition_tokens,
        t.tokens_before AS begins,
        t.tokens_before + t.definition_tokens AS ends
    FROM alike AS a
    INNER JOIN toolset_tools AS t ON a.toolset_hash = t.toolset_hash
),

taxed AS (
    SELECT
        *,
        greatest(least(ends, read_end) - begins, 0) AS cached_tokens,
        is_priced AND definition_tokens IS NOT NULL AND input_end IS NOT NULL AS is_taxed,
        CAST(greatest(least(ends, read_end) - begins, 0) AS DECIMAL(18, 0)) * read_price
        + CAST(greatest(least(ends, write_1h_end) - greatest(begins, read_end), 0) AS DECIMAL(18, 0)) * write_1h_price
        + CAST(greatest(least(ends, write_5m_end) - greatest(begins, write_1h_end), 0) AS DECIMAL(18, 0))
        * write_5m_price
        + CAST(greatest(least(ends, write_end) - greatest(begins, write_5m_end), 0) AS DECIMAL(18, 0)) * write_price
        + CAST(greatest(least(ends, input_end) - greatest(begins, write_end), 0) AS DECIMAL(18, 0)) * uncached_price
        AS tax_pico_usd
    FROM placed
),

offering_runs AS (
    SELECT
        business_day, workflow, purpose, feature, contract_version, prompt_version, toolset_hash,
        count(DISTINCT run_id) AS runs
    FROM wanted
    WHERE kind = 'model'
    GROUP BY business_day, workflow, purpose, feature, contract_version, prompt_version, toolset_hash
),

calling AS (
    SELECT DISTINCT business_day, run_id FROM wanted WHERE kind = 'tool'
),

-- A tool call is answered for the toolset of the request before it, else of the first one after it, that day.
calls AS (
    SELECT
        *,
        coalesce(
            toolset_hash,
            last_value(toolset_hash IGNORE NULLS) OVER (
                PARTITION BY business_day, run_id ORDER BY event_time, source, event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ),
            first_value(toolset_hash IGNORE NULLS) OVER (
                PARTITION BY business_day, run_id ORDER BY event_time, source, event_id
                ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
            )
        ) AS called_toolset
    FROM wanted
    SEMI JOIN calling USING (business_day, run_id)
),

rows_of_both AS (
    SELECT
        business_day, workflow, purpose, feature, contract_version, prompt_version, toolset_hash, tool_name,
        requests,
        CAST(requests * coalesce(definition_tokens, 0) AS DECIMAL(38, 0)) AS sent_tokens,
        CASE WHEN is_taxed THEN CAST(requests * cached_tokens AS DECIMAL(38, 0)) END AS cached_tokens,
        CASE WHEN is_taxed THEN CAST(requests * tax_pico_usd AS DECIMAL(38, 0)) END AS tax_pico_usd,
        CASE WHEN is_taxed THEN 0 ELSE requests END AS untaxed_requests,
        0 AS calls,
        0 AS failed_calls,
        NULL AS calling_run
    FROM taxed
    UNION ALL
    SELECT
        business_day, workflow, purpose, feature, contract_version, prompt_version, called_toolset AS toolset_hash,
        tool_name,
        0 AS requests,
        CAST(0 AS DECIMAL(38, 0)) AS sent_tokens,
        NULL AS cached_tokens,
        NULL AS tax_pico_usd,
        0 AS untaxed_requests,
        1 AS calls,
        CASE WHEN status = 'failed' THEN 1 ELSE 0 END AS failed_calls,
        run_id AS calling_run
    FROM calls
    WHERE kind = 'tool'
),

counted AS (
    SELECT
        business_day, workflow, purpose, feature, contract_version, prompt_version, toolset_hash, tool_name,
        CAST(sum(requests) AS BIGINT) AS offering_requests,
        CAST(sum(sent_tokens) AS DECIMAL(38, 0)) AS sent_tokens,
        CAST(coalesce(sum(cached_tokens), 0) AS DECIMAL(38, 0)) AS cached_tokens,
        CAST(coalesce(sum(tax_pico_usd), 0) AS DECIMAL(38, 0)) AS tax_pico_usd,
        CAST(sum(untaxed_requests) AS BIGINT) AS untaxed_requests,
        CAST(sum(calls) AS BIGINT) AS calls,
        CAST(sum(failed_calls) AS BIGINT) AS failed_calls,
        count(DISTINCT calling_run) AS calling_runs
    FROM rows_of_both
    GROUP BY business_day, workflow, purpose, feature, contract_version, prompt_version, toolset_hash, tool_name
)

SELECT
    c.business_day,
    c.workflow,
    c.purpose,
    c.feature,
    c.contract_version,
    c.prompt_version,
    c.toolset_hash,
    z.cohort,
    c.tool_name,
    t.place,
    t.definition_tokens,
    t.binding,
    CASE WHEN z.toolset_hash IS NOT NULL THEN c.offering_requests END AS offering_requests,
    CASE WHEN z.toolset_hash IS NOT NULL THEN CASE WHEN c.offering_requests > 0 THEN r.runs ELSE 0 END END
    AS offering_runs,
    c.sent_tokens,
    c.cached_tokens,
    c.tax_pico_usd,
    c.untaxed_requests,
    c.calls,
    c.failed_calls,
    c.calling_runs,
    strftime(c.business_day, '%Y-%m') AS month
FROM counted AS c
LEFT JOIN toolset_sizes AS z ON c.toolset_hash = z.toolset_hash
LEFT JOIN toolset_tools AS t ON c.toolset_hash = t.toolset_hash AND c.tool_name = t.tool_name
LEFT JOIN offering_runs AS r
    ON c.business_day = r.business_day
    AND c.workflow IS NOT DISTINCT FROM r.workflow
    AND c.purpose IS NOT DISTINCT FROM r.purpose
    AND c.feature IS NOT DISTINCT FROM r.feature
    AND c.contract_version IS NOT DISTINCT FROM r.contract_version
    AND c.prompt_version IS NOT DISTINCT FROM r.prompt_version
    AND c.toolset_hash = r.toolset_hash
ORDER BY
    c.business_day, c.workflow, c.purpose, c.feature, c.contract_version, c.prompt_version, c.toolset_hash, c.tool_name
