-- What happened under each prompt version. A person's word counts for the run that made the result; one run counts once.
WITH runs AS (
    SELECT
        *,
        CAST(started_at AT TIME ZONE $timezone AS DATE) AS business_day,
        CASE WHEN status IN ('succeeded', 'failed') THEN latency_ms END AS ended_latency_ms
    FROM run_costs
),

-- What people said and still holds, under the run it counts for: `bindings` decides both.
said AS (
    SELECT run_id, rating, reason
    FROM bindings
    WHERE is_counted AND holds
),

rated AS (
    SELECT
        run_id,
        max(CASE WHEN rating = 'like' THEN 1 ELSE 0 END) AS liked,
        max(CASE WHEN rating = 'dislike' THEN 1 ELSE 0 END) AS disliked
    FROM said
    WHERE rating IS NOT NULL
    GROUP BY run_id
),

corrected AS (
    SELECT
        run_id,
        max(CASE WHEN reason = 'extraction_error' THEN 1 ELSE 0 END) AS extraction_error,
        max(CASE WHEN reason = 'mapping_bug' THEN 1 ELSE 0 END) AS mapping_bug,
        max(CASE WHEN reason = 'unsupported_case' THEN 1 ELSE 0 END) AS unsupported_case,
        max(CASE WHEN reason = 'user_preference' THEN 1 ELSE 0 END) AS user_preference
    FROM said
    WHERE reason IS NOT NULL
    GROUP BY run_id
),

placed AS (
    SELECT
        r.*,
        row_number() OVER (
            PARTITION BY business_day, workflow, purpose, prompt_version ORDER BY ended_latency_ms NULLS LAST, run_id
        ) AS latency_place,
        count(ended_latency_ms) OVER (PARTITION BY business_day, workflow, purpose, prompt_version) AS latency_of
    FROM runs AS r
),

people AS (
    SELECT
        p.business_day,
        p.workflow,
        p.purpose,
        p.prompt_version,
        count(t.run_id) AS judged_runs,
        CAST(coalesce(sum(t.liked), 0) AS BIGINT) AS liked_runs,
        CAST(coalesce(sum(t.disliked), 0) AS BIGINT) AS disliked_runs,
        count(c.run_id) AS corrected_runs,
        CAST(coalesce(sum(c.extraction_error), 0) AS BIGINT) AS extraction_error_runs,
        CAST(coalesce(sum(c.mapping_bug), 0) AS BIGINT) AS mapping_bug_runs,
        CAST(coalesce(sum(c.unsupported_case), 0) AS BIGINT) AS unsupported_case_runs,
        CAST(coalesce(sum(c.user_preference), 0) AS BIGINT) AS user_preference_runs,
        min(CASE WHEN p.latency_place * 100 >= p.latency_of * 95 THEN p.ended_latency_ms END) AS p95_latency_ms
    FROM placed AS p
    LEFT JOIN rated AS t ON p.run_id = t.run_id
    LEFT JOIN corrected AS c ON p.run_id = c.run_id
    GROUP BY p.business_day, p.workflow, p.purpose, p.prompt_version
),

machines AS (
    SELECT
        business_day,
        workflow,
        purpose,
        prompt_version,
        min(unit) AS unit,
        min(unit_per) AS unit_per,
        CAST(sum(runs) AS BIGINT) AS runs,
        CAST(sum(succeeded_runs + failed_runs + abandoned_runs) AS BIGINT) AS ended_runs,
        CAST(sum(failed_runs + abandoned_runs) AS BIGINT) AS failed_runs,
        CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
        CAST(sum(steps) AS BIGINT) AS steps,
        CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps,
        CAST(sum(results) AS DECIMAL(38, 0)) AS results
    FROM unit_costs
    WHERE workflow IS NOT NULL
    GROUP BY business_day, workflow, purpose, prompt_version
)

SELECT
    m.business_day,
    m.workflow,
    m.purpose,
    m.prompt_version,
    m.unit,
    m.unit_per,
    m.runs,
    m.ended_runs,
    m.failed_runs,
    coalesce(p.judged_runs, 0) AS judged_runs,
    coalesce(p.liked_runs, 0) AS liked_runs,
    coalesce(p.disliked_runs, 0) AS disliked_runs,
    coalesce(p.corrected_runs, 0) AS corrected_runs,
    coalesce(p.extraction_error_runs, 0) AS extraction_error_runs,
    coalesce(p.mapping_bug_runs, 0) AS mapping_bug_runs,
    coalesce(p.unsupported_case_runs, 0) AS unsupported_case_runs,
    coalesce(p.user_preference_runs, 0) AS user_preference_runs,
    m.cost_pico_usd,
    m.steps,
    m.unpriced_steps,
    m.results,
    p.p95_latency_ms,
    strftime(m.business_day, '%Y-%m') AS month
FROM machines AS m
LEFT JOIN people AS p
    ON m.business_day = p.business_day AND m.workflow = p.workflow AND m.purpose = p.purpose
    AND m.prompt_version IS NOT DISTINCT FROM p.prompt_version
WHERE strftime(m.business_day, '%Y-%m') IN (SELECT month FROM targets)
ORDER BY business_day, workflow, purpose, prompt_version
