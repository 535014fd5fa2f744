-- Steps as one publication had them: what each adds to the row of unit_costs it counts in.
-- The figures are those of contracts/tables/unit_costs.sql; the tests compare the two.
SELECT
    c.source,
    c.event_id,
    e.ingest_id,
    c.run_id,
    c.event_time,
    c.counted,
    {
        'workflow': c.workflow, 'purpose': c.purpose, 'tenant': c.tenant, 'team': c.team,
        'prompt_version': c.prompt_version
    } AS run,
    {'provider': c.provider, 'model': c.model} AS call,
    {
        'cost_pico_usd': CAST(coalesce(c.cost_pico_usd, 0) AS DECIMAL(38, 0)),
        'billed_pico_usd': CAST(coalesce(c.billed_pico_usd, 0) AS DECIMAL(38, 0)),
        'steps': CAST(c.counted AS DECIMAL(38, 0)),
        'model_steps': CAST(c.counted AND c.kind = 'model' AS DECIMAL(38, 0)),
        'unpriced_steps': CAST(NOT c.priced AS DECIMAL(38, 0)),
        'billed_steps': CAST(c.billed_pico_usd IS NOT NULL AS DECIMAL(38, 0)),
        'input_tokens': CAST(coalesce(c.total_input_tokens, 0) AS DECIMAL(38, 0)),
        'cache_read_tokens': CAST(
            coalesce(c.cache_read_tokens, 0) + coalesce(c.cache_read_audio_tokens, 0)
            + coalesce(c.cache_read_image_tokens, 0) AS DECIMAL(38, 0)
        ),
        'output_tokens': CAST(
            coalesce(c.output_tokens, 0) + coalesce(c.reasoning_tokens, 0) + coalesce(c.output_audio_tokens, 0)
            + coalesce(c.output_image_tokens, 0) AS DECIMAL(38, 0)
        ),
        'runs': CAST(0 AS DECIMAL(38, 0)),
        'succeeded_runs': CAST(0 AS DECIMAL(38, 0)),
        'failed_runs': CAST(0 AS DECIMAL(38, 0)),
        'abandoned_runs': CAST(0 AS DECIMAL(38, 0)),
        'results': CAST(0 AS DECIMAL(38, 0))
    } AS figures
FROM /*step_costs*/ AS c
INNER JOIN /*steps*/ AS e ON c.day = e.day AND c.source = e.source AND c.event_id = e.event_id
