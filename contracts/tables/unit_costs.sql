-- Cost and results side by side, additive: rows of cost carry the model, rows of runs and results do not,
-- so that sum(cost_pico_usd) / sum(results) holds under any grouping of the other columns.
-- A retracting outcome is no result itself: it takes an earlier one of its source back.
WITH retracted AS (
    SELECT DISTINCT source, retracts AS outcome_id
    FROM outcomes
    WHERE retracts IS NOT NULL
),

latest_outcomes AS (
    SELECT *
    FROM outcomes
    WHERE retracts IS NULL
    QUALIFY row_number() OVER (PARTITION BY source, outcome_id ORDER BY event_time DESC, event_id) = 1
),

standing_outcomes AS (
    SELECT o.*
    FROM latest_outcomes AS o
    LEFT JOIN retracted AS r ON o.source = r.source AND o.outcome_id = r.outcome_id
    WHERE r.outcome_id IS NULL
),

parts AS (
    SELECT
        CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day,
        workflow,
        purpose,
        tenant,
        team,
        prompt_version,
        provider,
        model,
        coalesce(cost_pico_usd, 0) AS cost_pico_usd,
        coalesce(billed_pico_usd, 0) AS billed_pico_usd,
        CASE WHEN counted THEN 1 ELSE 0 END AS steps,
        CASE WHEN counted AND kind = 'model' THEN 1 ELSE 0 END AS model_steps,
        CASE WHEN priced THEN 0 ELSE 1 END AS unpriced_steps,
        CASE WHEN billed_pico_usd IS NULL THEN 0 ELSE 1 END AS billed_steps,
        coalesce(total_input_tokens, 0) AS input_tokens,
        coalesce(cache_read_tokens, 0) + coalesce(cache_read_audio_tokens, 0)
        + coalesce(cache_read_image_tokens, 0) AS cache_read_tokens,
        coalesce(output_tokens, 0) + coalesce(reasoning_tokens, 0) + coalesce(output_audio_tokens, 0)
        + coalesce(output_image_tokens, 0) AS output_tokens,
        0 AS runs,
        0 AS succeeded_runs,
        0 AS failed_runs,
        0 AS abandoned_runs,
        0 AS results
    FROM step_costs
    UNION ALL
    SELECT
        CAST(r.started_at AT TIME ZONE $timezone AS DATE) AS business_day,
        r.workflow,
        r.purpose,
        r.tenant,
        r.team,
        r.prompt_version,
        NULL AS provider,
        NULL AS model,
        0 AS cost_pico_usd,
        0 AS billed_pico_usd,
        0 AS steps,
        0 AS model_steps,
        0 AS unpriced_steps,
        0 AS billed_steps,
        0 AS input_tokens,
        0 AS cache_read_tokens,
        0 AS output_tokens,
        1 AS runs,
        CASE WHEN r.status = 'succeeded' THEN 1 ELSE 0 END AS succeeded_runs,
        CASE WHEN r.status = 'failed' THEN 1 ELSE 0 END AS failed_runs,
        CASE WHEN r.status = 'abandoned' THEN 1 ELSE 0 END AS abandoned_runs,
        CASE WHEN p.result_from = 'run_unit' THEN coalesce(r.units[p.result_kind], 0) ELSE 0 END AS results
    FROM run_costs AS r
    LEFT JOIN workflow_policies AS p ON r.workflow = p.workflow
    UNION ALL
    SELECT
        CAST(o.occurred_at AT TIME ZONE $timezone AS DATE) AS business_day,
        o.workflow,
        'production' AS purpose,
        o.tenant,
        o.team,
        NULL AS prompt_version,
        NULL AS provider,
        NULL AS model,
        0 AS cost_pico_usd,
        0 AS billed_pico_usd,
        0 AS steps,
        0 AS model_steps,
        0 AS unpriced_steps,
        0 AS billed_steps,
        0 AS input_tokens,
        0 AS cache_read_tokens,
        0 AS output_tokens,
        0 AS runs,
        0 AS succeeded_runs,
        0 AS failed_runs,
        0 AS abandoned_runs,
        o.count AS results
    FROM standing_outcomes AS o
    INNER JOIN workflow_policies AS p
        ON o.workflow = p.workflow AND p.result_from = 'outcome' AND o.kind = p.result_kind
),

totals AS (
    SELECT
        business_day,
        workflow,
        purpose,
        tenant,
        team,
        prompt_version,
        provider,
        model,
        CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
        CAST(sum(billed_pico_usd) AS DECIMAL(38, 0)) AS billed_pico_usd,
        CAST(sum(steps) AS BIGINT) AS steps,
        CAST(sum(model_steps) AS BIGINT) AS model_steps,
        CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps,
        CAST(sum(billed_steps) AS BIGINT) AS billed_steps,
        CAST(sum(input_tokens) AS DECIMAL(38, 0)) AS input_tokens,
        CAST(sum(cache_read_tokens) AS DECIMAL(38, 0)) AS cache_read_tokens,
        CAST(sum(output_tokens) AS DECIMAL(38, 0)) AS output_tokens,
        CAST(sum(runs) AS BIGINT) AS runs,
        CAST(sum(succeeded_runs) AS BIGINT) AS succeeded_runs,
        CAST(sum(failed_runs) AS BIGINT) AS failed_runs,
        CAST(sum(abandoned_runs) AS BIGINT) AS abandoned_runs,
        CAST(sum(results) AS DECIMAL(38, 0)) AS results,
        strftime(business_day, '%Y-%m') AS month
    FROM parts
    GROUP BY business_day, workflow, purpose, tenant, team, prompt_version, provider, model
)

SELECT
    t.business_day,
    t.workflow,
    t.purpose,
    t.tenant,
    t.team,
    t.prompt_version,
    t.provider,
    t.model,
    p.unit,
    p.unit_per,
    t.cost_pico_usd,
    t.billed_pico_usd,
    t.steps,
    t.model_steps,
    t.unpriced_steps,
    t.billed_steps,
    t.input_tokens,
    t.cache_read_tokens,
    t.output_tokens,
    t.runs,
    t.succeeded_runs,
    t.failed_runs,
    t.abandoned_runs,
    t.results,
    t.month
FROM totals AS t
LEFT JOIN workflow_policies AS p ON t.workflow = p.workflow
WHERE t.month IN (SELECT month FROM targets)
ORDER BY business_day, workflow, purpose, tenant, team, prompt_version, provider, model
