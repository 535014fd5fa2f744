-- Prices every step with integers: tokens x micro-USD per million tokens = pico-USD.
--
-- counted: usage that stands elsewhere is not added again. A step is a rollup where any step below it carries
-- tokens; of the remaining reports of one call (same call_key, same UTC day) one counts: with tokens, with a model,
-- with the most buckets. Arithmetic is DECIMAL(38,0), since 10^12 tokens at 1000 USD per million pass the int64 of a step.
WITH RECURSIVE runs AS (
    SELECT
        run_id, parent_run_id, conversation_id, workflow, purpose, tenant, team, feature, contract_version, prompt_version
    FROM runs_started
    QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY event_time, source, event_id) = 1
),

measured AS (
    SELECT
        s.*,
        r.parent_run_id,
        -- A run that another started has a prompt of its own, whatever conversation it helps.
        CASE WHEN r.parent_run_id IS NULL THEN r.conversation_id END AS conversation_id,
        r.workflow,
        r.purpose,
        coalesce(r.tenant, s.tenant) AS paying_tenant,
        coalesce(r.team, s.team) AS paying_team,
        r.feature,
        r.contract_version,
        r.prompt_version,
        coalesce(s.input_uncached_tokens, 0) + coalesce(s.cache_read_tokens, 0)
        + coalesce(s.cache_write_5m_tokens, 0) + coalesce(s.cache_write_1h_tokens, 0)
        + coalesce(s.cache_write_tokens, 0) + coalesce(s.input_audio_tokens, 0)
        + coalesce(s.cache_read_audio_tokens, 0) + coalesce(s.input_image_tokens, 0)
        + coalesce(s.cache_read_image_tokens, 0) AS total_input_tokens,
        coalesce(s.output_tokens, 0) + coalesce(s.reasoning_tokens, 0)
        + coalesce(s.output_audio_tokens, 0) + coalesce(s.output_image_tokens, 0) AS total_output_tokens,
        (CASE WHEN s.input_uncached_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.cache_read_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.cache_write_5m_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.cache_write_1h_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.cache_write_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.output_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.reasoning_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.input_audio_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.cache_read_audio_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.output_audio_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.input_image_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.cache_read_image_tokens IS NULL THEN 0 ELSE 1 END)
        + (CASE WHEN s.output_image_tokens IS NULL THEN 0 ELSE 1 END) AS known_buckets
    FROM steps AS s
    LEFT JOIN runs AS r ON s.run_id = r.run_id
),

-- A step's parent stands in its own run or in the run that started it. A step is never its own parent.
children AS (
    SELECT source, step_id, run_id, run_id AS above_run_id, parent_step_id AS above_step_id,
        total_input_tokens + total_output_tokens > 0 AS has_tokens
    FROM measured
    WHERE parent_step_id IS NOT NULL AND parent_step_id <> step_id
    UNION ALL
    SELECT source, step_id, run_id, parent_run_id AS above_run_id, parent_step_id AS above_step_id,
        total_input_tokens + total_output_tokens > 0 AS has_tokens
    FROM measured
    WHERE parent_step_id IS NOT NULL AND parent_run_id IS NOT NULL AND parent_run_id <> run_id
),

-- Only parents that repeat usage or have a parent themselves lead anywhere; most are roots without usage.
edges AS (
    SELECT c.*
    FROM children AS c
    INNER JOIN measured AS p
        ON c.source = p.source AND c.above_run_id = p.run_id AND c.above_step_id = p.step_id
    WHERE p.kind = 'model' OR p.total_input_tokens + p.total_output_tokens > 0 OR p.parent_step_id IS NOT NULL
),

ascents AS (
    SELECT source, run_id AS from_run_id, step_id AS from_step_id, above_run_id AS run_id, above_step_id AS step_id
    FROM edges
    WHERE has_tokens
    UNION
    SELECT a.source, a.from_run_id, a.from_step_id, e.above_run_id AS run_id, e.above_step_id AS step_id
    FROM ascents AS a
    INNER JOIN edges AS e ON a.source = e.source AND a.run_id = e.run_id AND a.step_id = e.step_id
),

-- In a cycle of parents every step stands above every other; then none of them repeats the others.
rollups AS (
    SELECT DISTINCT a.source, a.run_id, a.step_id
    FROM ascents AS a
    LEFT JOIN ascents AS back
        ON a.source = back.source
        AND a.run_id = back.from_run_id AND a.step_id = back.from_step_id
        AND a.from_run_id = back.run_id AND a.from_step_id = back.step_id
    WHERE back.step_id IS NULL
),

repeated_calls AS (
    SELECT day, call_key
    FROM steps
    WHERE call_key IS NOT NULL
    GROUP BY day, call_key
    HAVING count(*) > 1
),

-- A rollup never wins over a report of the call itself, or both would fall away.
ranked_reports AS (
    SELECT
        m.source,
        m.event_id,
        row_number() OVER (
            PARTITION BY m.day, m.call_key
            ORDER BY
                CASE WHEN u.step_id IS NULL THEN 0 ELSE 1 END,
                CASE WHEN m.total_input_tokens + m.total_output_tokens > 0 THEN 0 ELSE 1 END,
                CASE WHEN m.model IS NULL THEN 1 ELSE 0 END,
                m.known_buckets DESC,
                m.source,
                m.event_id
        ) AS place
    FROM measured AS m
    INNER JOIN repeated_calls AS c ON m.day = c.day AND m.call_key = c.call_key
    LEFT JOIN rollups AS u ON m.source = u.source AND m.run_id = u.run_id AND m.step_id = u.step_id
),

targeted AS (
    SELECT
        m.*,
        CASE
            WHEN u.step_id IS NOT NULL AND (m.total_input_tokens + m.total_output_tokens > 0 OR m.kind = 'model') THEN 'rollup'
            WHEN d.place > 1 THEN 'duplicate_call'
        END AS not_counted_reason
    FROM measured AS m
    LEFT JOIN rollups AS u ON m.source = u.source AND m.run_id = u.run_id AND m.step_id = u.step_id
    LEFT JOIN ranked_reports AS d ON m.source = d.source AND m.event_id = d.event_id
    WHERE m.day IN (SELECT day FROM targets)
),

rated AS (
    SELECT
        t.*,
        k.price_key,
        k.unpriced_reason AS key_reason,
        r.price_key IS NOT NULL AS has_price_row,
        r.price_source,
        r.inexact AS price_inexact,
        r.unit_prices,
        r.input_uncached AS input_uncached_price_pico_usd,
        r.cache_read AS cache_read_price_pico_usd,
        r.cache_write_5m AS cache_write_5m_price_pico_usd,
        r.cache_write_1h AS cache_write_1h_price_pico_usd,
        r.cache_write AS cache_write_price_pico_usd,
        CASE
            WHEN t.input_uncached_tokens > 0 AND r.input_uncached IS NULL THEN 'input_uncached'
            WHEN t.cache_read_tokens > 0 AND r.cache_read IS NULL THEN 'cache_read'
            WHEN t.cache_write_5m_tokens > 0 AND r.cache_write_5m IS NULL THEN 'cache_write_5m'
            WHEN t.cache_write_1h_tokens > 0 AND r.cache_write_1h IS NULL THEN 'cache_write_1h'
            WHEN t.cache_write_tokens > 0 AND r.cache_write IS NULL THEN 'cache_write'
            WHEN t.output_tokens > 0 AND r.output IS NULL THEN 'output'
            WHEN t.reasoning_tokens > 0 AND r.reasoning IS NULL THEN 'reasoning'
            WHEN t.input_audio_tokens > 0 AND r.input_audio IS NULL THEN 'input_audio'
            WHEN t.cache_read_audio_tokens > 0 AND r.cache_read_audio IS NULL THEN 'cache_read_audio'
            WHEN t.output_audio_tokens > 0 AND r.output_audio IS NULL THEN 'output_audio'
            WHEN t.input_image_tokens > 0 AND r.input_image IS NULL THEN 'input_image'
            WHEN t.cache_read_image_tokens > 0 AND r.cache_read_image IS NULL THEN 'cache_read_image'
            WHEN t.output_image_tokens > 0 AND r.output_image IS NULL THEN 'output_image'
        END AS bucket_without_price,
        CAST(coalesce(t.input_uncached_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.input_uncached, 0)
        + CAST(coalesce(t.cache_read_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.cache_read, 0)
        + CAST(coalesce(t.cache_write_5m_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.cache_write_5m, 0)
        + CAST(coalesce(t.cache_write_1h_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.cache_write_1h, 0)
        + CAST(coalesce(t.cache_write_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.cache_write, 0)
        + CAST(coalesce(t.output_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.output, 0)
        + CAST(coalesce(t.reasoning_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.reasoning, 0)
        + CAST(coalesce(t.input_audio_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.input_audio, 0)
        + CAST(coalesce(t.cache_read_audio_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.cache_read_audio, 0)
        + CAST(coalesce(t.output_audio_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.output_audio, 0)
        + CAST(coalesce(t.input_image_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.input_image, 0)
        + CAST(coalesce(t.cache_read_image_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.cache_read_image, 0)
        + CAST(coalesce(t.output_image_tokens, 0) AS DECIMAL(18, 0)) * coalesce(r.output_image, 0)
        + CASE
            WHEN t.total_input_tokens + t.total_output_tokens > 0 THEN coalesce(r.request_pico_usd, 0)
            ELSE 0
        END AS token_pico_usd,
        -- Null where a price is missing: what caching saved is then unknown.
        CASE
            WHEN t.cache_read_tokens > 0
                THEN CAST(t.cache_read_tokens AS DECIMAL(18, 0)) * (r.input_uncached - r.cache_read)
            ELSE 0
        END
        + CASE
            WHEN t.cache_write_5m_tokens > 0
                THEN CAST(t.cache_write_5m_tokens AS DECIMAL(18, 0)) * (r.input_uncached - r.cache_write_5m)
            ELSE 0
        END
        + CASE
            WHEN t.cache_write_1h_tokens > 0
                THEN CAST(t.cache_write_1h_tokens AS DECIMAL(18, 0)) * (r.input_uncached - r.cache_write_1h)
            ELSE 0
        END
        + CASE
            WHEN t.cache_write_tokens > 0
                THEN CAST(t.cache_write_tokens AS DECIMAL(18, 0)) * (r.input_uncached - r.cache_write)
            ELSE 0
        END
        + CASE
            WHEN t.cache_read_audio_tokens > 0
                THEN CAST(t.cache_read_audio_tokens AS DECIMAL(18, 0)) * (r.input_audio - r.cache_read_audio)
            ELSE 0
        END
        + CASE
            WHEN t.cache_read_image_tokens > 0
                THEN CAST(t.cache_read_image_tokens AS DECIMAL(18, 0)) * (r.input_image - r.cache_read_image)
            ELSE 0
        END AS saved_pico_usd
    FROM targeted AS t
    LEFT JOIN price_keys AS k
        ON t.provider IS NOT DISTINCT FROM k.provider
        AND t.model IS NOT DISTINCT FROM k.model
        AND t.service_tier IS NOT DISTINCT FROM k.service_tier
        AND t.batch IS NOT DISTINCT FROM k.batch
    LEFT JOIN price_rows AS r
        ON k.price_key = r.price_key
        AND t.event_time >= r.valid_from
        AND t.event_time < r.valid_to
        AND hour(t.event_time) * 60 + minute(t.event_time) >= r.from_minute
        AND hour(t.event_time) * 60 + minute(t.event_time) < r.to_minute
        AND t.total_input_tokens >= r.min_input_tokens
        AND t.total_input_tokens <= r.max_input_tokens
),

units AS (
    SELECT source, event_id, unit_prices, unnest(map_entries(other_units)) AS unit
    FROM rated
    WHERE other_units IS NOT NULL
),

unit_totals AS (
    SELECT
        source,
        event_id,
        max(CASE WHEN unit.value > 0 THEN 1 ELSE 0 END) = 1 AS has_units,
        min(CASE WHEN unit.value > 0 AND unit_prices[unit.key] IS NULL THEN unit.key END) AS unit_without_price,
        CAST(
            sum(CAST(unit.value AS DECIMAL(18, 0)) * coalesce(unit_prices[unit.key], 0)) AS DECIMAL(38, 0)
        ) AS unit_pico_usd
    FROM units
    GROUP BY source, event_id
),

judged AS (
    SELECT
        r.*,
        r.not_counted_reason IS NULL AS counted,
        r.token_pico_usd + coalesce(u.unit_pico_usd, 0) AS exact_pico_usd,
        CASE
            WHEN r.not_counted_reason IS NOT NULL THEN NULL
            WHEN r.kind = 'model' AND r.known_buckets = 0 THEN 'missing_usage'
            WHEN r.total_input_tokens + r.total_output_tokens = 0 AND NOT coalesce(u.has_units, FALSE) THEN NULL
            WHEN r.price_key IS NULL OR r.key_reason IS NOT NULL THEN coalesce(r.key_reason, 'unknown_model')
            WHEN NOT r.has_price_row THEN 'no_price_at_that_time'
            WHEN r.bucket_without_price IS NOT NULL THEN 'no_price_for_bucket:' || r.bucket_without_price
            WHEN u.unit_without_price IS NOT NULL THEN 'no_price_for_unit:' || u.unit_without_price
            WHEN r.token_pico_usd + coalesce(u.unit_pico_usd, 0) > 9223372036854775807 THEN 'out_of_range'
        END AS unpriced_reason
    FROM rated AS r
    LEFT JOIN unit_totals AS u ON r.source = u.source AND r.event_id = u.event_id
)

SELECT
    source,
    event_id,
    event_time,
    run_id,
    step_id,
    conversation_id,
    workflow,
    purpose,
    paying_tenant AS tenant,
    paying_team AS team,
    feature,
    contract_version,
    prompt_version,
    kind,
    name,
    status,
    provider,
    model,
    service_tier,
    batch,
    attempt,
    attempt_reason,
    tool_name,
    toolset_hash,
    layout_hash,
    playbook,
    cache_miss_reason,
    CASE WHEN counted THEN latency_ms END AS latency_ms,
    CASE WHEN counted THEN input_uncached_tokens END AS input_uncached_tokens,
    CASE WHEN counted THEN cache_read_tokens END AS cache_read_tokens,
    CASE WHEN counted THEN cache_write_5m_tokens END AS cache_write_5m_tokens,
    CASE WHEN counted THEN cache_write_1h_tokens END AS cache_write_1h_tokens,
    CASE WHEN counted THEN cache_write_tokens END AS cache_write_tokens,
    CASE WHEN counted THEN output_tokens END AS output_tokens,
    CASE WHEN counted THEN reasoning_tokens END AS reasoning_tokens,
    CASE WHEN counted THEN input_audio_tokens END AS input_audio_tokens,
    CASE WHEN counted THEN cache_read_audio_tokens END AS cache_read_audio_tokens,
    CASE WHEN counted THEN output_audio_tokens END AS output_audio_tokens,
    CASE WHEN counted THEN input_image_tokens END AS input_image_tokens,
    CASE WHEN counted THEN cache_read_image_tokens END AS cache_read_image_tokens,
    CASE WHEN counted THEN output_image_tokens END AS output_image_tokens,
    CASE WHEN counted AND known_buckets > 0 THEN total_input_tokens END AS total_input_tokens,
    usage_check,
    counted,
    not_counted_reason,
    unpriced_reason IS NULL AS priced,
    unpriced_reason,
    price_key,
    price_source,
    price_inexact,
    CASE WHEN counted THEN input_uncached_price_pico_usd END AS input_uncached_price_pico_usd,
    CASE WHEN counted THEN cache_read_price_pico_usd END AS cache_read_price_pico_usd,
    CASE WHEN counted THEN cache_write_5m_price_pico_usd END AS cache_write_5m_price_pico_usd,
    CASE WHEN counted THEN cache_write_1h_price_pico_usd END AS cache_write_1h_price_pico_usd,
    CASE WHEN counted THEN cache_write_price_pico_usd END AS cache_write_price_pico_usd,
    CASE
        WHEN NOT counted THEN 0
        WHEN unpriced_reason IS NULL THEN CAST(exact_pico_usd AS BIGINT)
    END AS cost_pico_usd,
    CASE
        WHEN NOT counted THEN 0
        WHEN unpriced_reason IS NULL AND saved_pico_usd BETWEEN -9223372036854775807 AND 9223372036854775807
            THEN CAST(saved_pico_usd AS BIGINT)
    END AS cache_savings_pico_usd,
    CASE WHEN counted THEN billed_pico_usd END AS billed_pico_usd,
    day
FROM judged
ORDER BY event_time, source, event_id
