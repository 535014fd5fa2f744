-- One row per run: its latest state, what its own counted steps cost, and the policies of the models it called.
-- A finish, however late, settles the state; a run that waits for input is never abandoned.
--
-- Few runs start or finish twice: only those are sorted, since to sort a run's one row costs more than to count it.
WITH restarted AS (
    SELECT run_id FROM runs_started GROUP BY run_id HAVING count(*) > 1
),

wanted AS (
    SELECT *
    FROM (
        SELECT * FROM runs_started WHERE run_id NOT IN (SELECT run_id FROM restarted)
        UNION ALL
        SELECT *
        FROM runs_started
        WHERE run_id IN (SELECT run_id FROM restarted)
        QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY event_time, source, event_id) = 1
    ) AS started
    WHERE day IN (SELECT day FROM targets)
),

refinished AS (
    SELECT run_id FROM runs_finished GROUP BY run_id HAVING count(*) > 1
),

ended AS (
    SELECT run_id, status, event_time, output_hash, exception_class, duration_ms, units
    FROM runs_finished
    WHERE run_id NOT IN (SELECT run_id FROM refinished)
    UNION ALL
    SELECT run_id, status, event_time, output_hash, exception_class, duration_ms, units
    FROM runs_finished
    WHERE run_id IN (SELECT run_id FROM refinished)
    QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY event_time DESC, source, event_id) = 1
),

changed AS (
    SELECT run_id, status, event_time
    FROM run_statuses
    QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY event_time DESC, source, event_id) = 1
),

costs AS (
    SELECT
        c.run_id,
        max(c.event_time) AS last_step_at,
        min(CASE WHEN c.kind = 'model' AND c.counted THEN c.provider END) AS first_provider,
        max(CASE WHEN c.kind = 'model' AND c.counted THEN c.provider END) AS last_provider,
        min(CASE WHEN c.kind = 'model' AND c.counted THEN c.model END) AS first_model,
        max(CASE WHEN c.kind = 'model' AND c.counted THEN c.model END) AS last_model,
        CAST(sum(c.latency_ms) AS DECIMAL(38, 0)) AS latency_ms,
        count(CASE WHEN c.counted THEN 1 END) AS steps,
        count(CASE WHEN c.counted AND c.kind = 'model' THEN 1 END) AS model_steps,
        count(CASE WHEN c.counted AND c.status = 'failed' THEN 1 END) AS failed_steps,
        count(CASE WHEN c.counted AND c.kind = 'tool' THEN 1 END) AS tool_steps,
        count(CASE WHEN c.counted AND c.attempt_reason = 'retry' THEN 1 END) AS retry_steps,
        count(CASE WHEN c.counted AND c.attempt_reason = 'fallback' THEN 1 END) AS fallback_steps,
        count(CASE WHEN c.counted AND c.attempt_reason = 'repair' THEN 1 END) AS repair_steps,
        min(c.toolset_hash) AS first_toolset,
        max(c.toolset_hash) AS last_toolset,
        count(CASE WHEN NOT c.counted THEN 1 END) AS not_counted_steps,
        count(CASE WHEN NOT c.priced THEN 1 END) AS unpriced_steps,
        CAST(sum(c.input_uncached_tokens) AS DECIMAL(38, 0)) AS input_uncached_tokens,
        CAST(sum(c.cache_read_tokens) AS DECIMAL(38, 0)) AS cache_read_tokens,
        CAST(
            sum(
                coalesce(c.cache_write_tokens, 0) + coalesce(c.cache_write_5m_tokens, 0)
                + coalesce(c.cache_write_1h_tokens, 0)
            ) AS DECIMAL(38, 0)
        ) AS cache_write_tokens,
        CAST(sum(c.output_tokens) AS DECIMAL(38, 0)) AS output_tokens,
        CAST(sum(c.reasoning_tokens) AS DECIMAL(38, 0)) AS reasoning_tokens,
        CAST(
            sum(
                coalesce(c.input_audio_tokens, 0) + coalesce(c.cache_read_audio_tokens, 0)
                + coalesce(c.output_audio_tokens, 0) + coalesce(c.input_image_tokens, 0)
                + coalesce(c.cache_read_image_tokens, 0) + coalesce(c.output_image_tokens, 0)
            ) AS DECIMAL(38, 0)
        ) AS audio_image_tokens,
        CAST(sum(c.cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
        CAST(sum(c.billed_pico_usd) AS DECIMAL(38, 0)) AS billed_pico_usd,
        count(c.billed_pico_usd) AS billed_steps,
        min(p.run_budget_pico_usd) AS run_budget_pico_usd,
        min(p.latency_ceiling_ms) AS latency_ceiling_ms,
        max(CASE p.risk_level WHEN 'low' THEN 1 WHEN 'medium' THEN 2 WHEN 'high' THEN 3 END) AS risk_rank,
        concat_ws(
            ',',
            max(CASE WHEN p.risk_level = 'low' THEN 'low' END),
            max(CASE WHEN p.risk_level = 'medium' THEN 'medium' END),
            max(CASE WHEN p.risk_level = 'high' THEN 'high' END)
        ) AS risk_levels,
        count(CASE WHEN c.counted AND c.kind = 'model' AND p.risk_level IS NULL THEN 1 END) AS unclassified_steps
    FROM step_costs AS c
    LEFT JOIN model_policies AS p
        ON c.price_key = p.price_key AND c.counted AND c.event_time >= p.valid_from AND c.event_time < p.valid_to
    WHERE c.run_id IN (SELECT run_id FROM wanted)
    GROUP BY c.run_id
),

-- Apart, since a count of distinct values is slow and most runs call one model and no tool.
models AS (
    SELECT c.run_id, count(DISTINCT c.model) AS model_count
    FROM step_costs AS c
    WHERE
        c.kind = 'model' AND c.counted
        AND c.run_id IN (SELECT run_id FROM costs WHERE first_model <> last_model)
    GROUP BY c.run_id
),

tools AS (
    SELECT c.run_id, count(DISTINCT c.tool_name) AS tools_called
    FROM step_costs AS c
    WHERE c.kind = 'tool' AND c.tool_name IS NOT NULL AND c.run_id IN (SELECT run_id FROM wanted)
    GROUP BY c.run_id
),

seen AS (
    SELECT
        w.*,
        e.status AS end_status,
        e.event_time AS finished_at,
        e.output_hash,
        e.exception_class,
        e.duration_ms,
        e.units,
        s.status AS open_status,
        greatest(
            w.event_time,
            coalesce(s.event_time, w.event_time),
            coalesce(c.last_step_at, w.event_time),
            coalesce(e.event_time, w.event_time)
        ) AS last_seen_at,
        coalesce(p.abandon_after, d.abandon_after) AS abandon_after,
        c.first_provider,
        c.last_provider,
        c.first_model,
        c.last_model,
        coalesce(m.model_count, CASE WHEN c.first_model IS NULL THEN 0 ELSE 1 END) AS model_count,
        c.latency_ms,
        c.steps,
        c.model_steps,
        c.failed_steps,
        c.tool_steps,
        t.tools_called,
        c.retry_steps,
        c.fallback_steps,
        c.repair_steps,
        c.first_toolset,
        c.last_toolset,
        c.not_counted_steps,
        c.unpriced_steps,
        c.input_uncached_tokens,
        c.cache_read_tokens,
        c.cache_write_tokens,
        c.output_tokens,
        c.reasoning_tokens,
        c.audio_image_tokens,
        c.cost_pico_usd,
        c.billed_pico_usd,
        c.billed_steps,
        c.run_budget_pico_usd,
        c.latency_ceiling_ms,
        c.risk_rank,
        c.risk_levels,
        c.unclassified_steps
    FROM wanted AS w
    LEFT JOIN ended AS e ON w.run_id = e.run_id
    LEFT JOIN changed AS s ON w.run_id = s.run_id
    LEFT JOIN costs AS c ON w.run_id = c.run_id
    LEFT JOIN models AS m ON w.run_id = m.run_id
    LEFT JOIN tools AS t ON w.run_id = t.run_id
    LEFT JOIN workflow_policies AS p ON w.workflow = p.workflow
    LEFT JOIN workflow_policies AS d ON d.workflow IS NULL
)

SELECT
    run_id,
    source,
    parent_run_id,
    conversation_id,
    workflow,
    purpose,
    tenant,
    team,
    environment,
    feature,
    contract_version,
    prompt_version,
    prompt_source,
    CASE WHEN first_provider = last_provider THEN first_provider END AS provider,
    CASE WHEN first_model = last_model THEN first_model END AS model,
    model_count,
    CASE WHEN first_toolset = last_toolset THEN first_toolset END AS toolset_hash,
    input_key,
    input_ref,
    input_hash,
    output_hash,
    hash_key_id,
    CASE
        WHEN end_status IS NOT NULL THEN end_status
        WHEN open_status = 'needs_input' THEN 'needs_input'
        WHEN last_seen_at + abandon_after <= $as_of THEN 'abandoned'
        ELSE 'running'
    END AS status,
    exception_class,
    event_time AS started_at,
    finished_at,
    last_seen_at,
    CASE
        WHEN end_status IS NULL AND coalesce(open_status, 'running') <> 'needs_input'
            THEN last_seen_at + abandon_after
    END AS abandon_at,
    duration_ms,
    coalesce(latency_ms, 0) AS latency_ms,
    coalesce(steps, 0) AS steps,
    coalesce(model_steps, 0) AS model_steps,
    coalesce(failed_steps, 0) AS failed_steps,
    coalesce(tool_steps, 0) AS tool_steps,
    coalesce(tools_called, 0) AS tools_called,
    coalesce(retry_steps, 0) AS retry_steps,
    coalesce(fallback_steps, 0) AS fallback_steps,
    coalesce(repair_steps, 0) AS repair_steps,
    coalesce(not_counted_steps, 0) AS not_counted_steps,
    coalesce(unpriced_steps, 0) AS unpriced_steps,
    coalesce(input_uncached_tokens, 0) AS input_uncached_tokens,
    coalesce(cache_read_tokens, 0) AS cache_read_tokens,
    coalesce(cache_write_tokens, 0) AS cache_write_tokens,
    coalesce(output_tokens, 0) AS output_tokens,
    coalesce(reasoning_tokens, 0) AS reasoning_tokens,
    coalesce(audio_image_tokens, 0) AS audio_image_tokens,
    coalesce(cost_pico_usd, 0) AS cost_pico_usd,
    billed_pico_usd,
    coalesce(billed_steps, 0) AS billed_steps,
    run_budget_pico_usd,
    latency_ceiling_ms,
    CASE risk_rank WHEN 1 THEN 'low' WHEN 2 THEN 'medium' WHEN 3 THEN 'high' END AS highest_risk_level,
    coalesce(risk_levels, '') AS risk_levels,
    coalesce(unclassified_steps, 0) AS unclassified_steps,
    units,
    day
FROM seen
ORDER BY started_at, run_id
