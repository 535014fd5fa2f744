-- Standing outcomes as one publication had them, counted by the policies of now.
WITH retracted AS (
    SELECT DISTINCT source, retracts AS outcome_id
    FROM /*outcomes*/
    WHERE retracts IS NOT NULL
),

latest AS (
    SELECT *
    FROM /*outcomes*/
    WHERE retracts IS NULL
    QUALIFY row_number() OVER (PARTITION BY source, outcome_id ORDER BY event_time DESC, event_id) = 1
)

SELECT
    o.source,
    o.outcome_id,
    o.occurred_at,
    {
        'workflow': o.workflow, 'purpose': 'production', 'tenant': o.tenant, 'team': o.team,
        'prompt_version': CAST(NULL AS VARCHAR)
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
        'runs': CAST(0 AS DECIMAL(38, 0)),
        'succeeded_runs': CAST(0 AS DECIMAL(38, 0)),
        'failed_runs': CAST(0 AS DECIMAL(38, 0)),
        'abandoned_runs': CAST(0 AS DECIMAL(38, 0)),
        'results': CAST(o.count AS DECIMAL(38, 0))
    } AS figures
FROM latest AS o
LEFT JOIN retracted AS r ON o.source = r.source AND o.outcome_id = r.outcome_id
INNER JOIN workflow_policies AS p
    ON o.workflow = p.workflow AND p.result_from = 'outcome' AND o.kind = p.result_kind
WHERE r.outcome_id IS NULL
