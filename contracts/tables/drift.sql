-- Compares each run with the last earlier one of its input_key, and with the last earlier output for the same
-- input, prompt version and model. `run_costs` holds the runs of the targets and of the days of those before them.
-- Nothing is compared with a run of more than 400 days before, so that the work does not grow with the history.
-- Only runs on one model are compared by their output; a run without an output neither compares nor is compared with.
WITH keyed AS (
    SELECT
        run_id,
        lag(run_id) OVER same_key AS key_run_id,
        lag(started_at) OVER same_key AS key_started_at,
        lag(input_hash) OVER same_key AS key_input_hash
    FROM run_costs
    WHERE input_key IS NOT NULL AND input_hash IS NOT NULL
    WINDOW same_key AS (
        PARTITION BY workflow, purpose, tenant, hash_key_id, input_key ORDER BY started_at, run_id
    )
),

answered AS (
    SELECT
        run_id,
        lag(run_id) OVER same_input AS answer_run_id,
        lag(started_at) OVER same_input AS answer_started_at,
        lag(output_hash) OVER same_input AS answer_output_hash
    FROM run_costs
    WHERE input_hash IS NOT NULL AND output_hash IS NOT NULL AND model IS NOT NULL
    WINDOW same_input AS (
        PARTITION BY workflow, purpose, tenant, hash_key_id, input_hash, prompt_version, model
        ORDER BY started_at, run_id
    )
),

compared AS (
    SELECT
        r.run_id,
        CAST(r.started_at AT TIME ZONE $timezone AS DATE) AS business_day,
        r.started_at,
        r.workflow,
        r.purpose,
        r.tenant,
        r.prompt_version,
        r.model,
        r.input_key,
        r.input_hash,
        r.output_hash,
        r.hash_key_id,
        k.key_run_id,
        k.key_started_at,
        k.key_input_hash,
        r.input_hash <> k.key_input_hash AS input_changed,
        a.answer_run_id,
        a.answer_started_at,
        a.answer_output_hash,
        r.output_hash <> a.answer_output_hash AS output_changed
    FROM run_costs AS r
    LEFT JOIN keyed AS k ON r.run_id = k.run_id AND r.started_at - INTERVAL 400 DAY <= k.key_started_at
    LEFT JOIN answered AS a ON r.run_id = a.run_id AND r.started_at - INTERVAL 400 DAY <= a.answer_started_at
    WHERE k.key_run_id IS NOT NULL OR a.answer_run_id IS NOT NULL
)

SELECT
    run_id,
    business_day,
    started_at,
    workflow,
    purpose,
    tenant,
    prompt_version,
    model,
    input_key,
    input_hash,
    output_hash,
    hash_key_id,
    key_run_id,
    key_started_at,
    key_input_hash,
    input_changed,
    answer_run_id,
    answer_started_at,
    answer_output_hash,
    output_changed,
    strftime(business_day, '%Y-%m') AS month
FROM compared
WHERE strftime(business_day, '%Y-%m') IN (SELECT month FROM targets)
ORDER BY started_at, run_id
