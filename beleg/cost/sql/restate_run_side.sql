-- Runs as one publication had them, their results counted by the policies of now.
SELECT
    r.run_id,
    r.started_at,
    r.finished_at,
    r.last_seen_at,
    r.abandon_at,
    {
        'workflow': r.workflow, 'purpose': r.purpose, 'tenant': r.tenant, 'team': r.team,
        'prompt_version': r.prompt_version
    } AS run,
    {'provider': CAST(NULL AS VARCHAR), 'model': CAST(NULL AS VARCHAR)} AS call,
    {
        'cost_pico_usd': CAST(0 AS DECIMAL(38, 0)),
        'billed_pico_usd': CAST(0 AS DECIMAL(38, 0)),
        'steps': CAST(0 AS DECIMAL(38, 0)),
        'model_steps': CAST(0 AS DECIMAL(38, 0)),
        'unpriced_steps': CAST(0 AS DECIMAL(38, 0)),
        'billed_steps': CAST(0 AS DECIMAL(38, 0)),
        'input_tokens': CAST(0 AS DECIMAL(38, 0)),
        'cache_read_tokens': CAST(0 AS DECIMAL(38, 0)),
        'output_tokens': CAST(0 AS DECIMAL(38, 0)),
        'runs': CAST(1 AS DECIMAL(38, 0)),
        'succeeded_runs': CAST(r.status = 'succeeded' AS DECIMAL(38, 0)),
        'failed_runs': CAST(r.status = 'failed' AS DECIMAL(38, 0)),
        'abandoned_runs': CAST(r.status = 'abandoned' AS DECIMAL(38, 0)),
        'results': CAST(
            CASE WHEN p.result_from = 'run_unit' THEN coalesce(r.units[p.result_kind], 0) ELSE 0 END
            AS DECIMAL(38, 0)
        )
    } AS figures
FROM /*run_costs*/ AS r
LEFT JOIN workflow_policies AS p ON r.workflow = p.workflow
