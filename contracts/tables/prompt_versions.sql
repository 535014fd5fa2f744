-- What happened under each prompt version. A person's word counts for the run that made the result: the one it names,
-- else the latest run with those fingerprints that started before it. One run counts once.
WITH runs AS (
    SELECT
        *,
        CAST(started_at AT TIME ZONE $timezone AS DATE) AS business_day,
        CASE WHEN status IN ('succeeded', 'failed') THEN latency_ms END AS ended_latency_ms
    FROM run_costs
),

-- Nothing said before a run's day is about it, nor is a correction replaced by one of an earlier day: days before
-- those computed need no look.
superseded AS (
    SELECT source, supersedes AS correction_id, max(day) AS last_day
    FROM corrections
    WHERE supersedes IS NOT NULL
    GROUP BY source, supersedes
),

-- What a person decided last about a correction: one that was rejected says nothing about the prompt.
decided AS (
    SELECT subject, decision, day
    FROM reviews
    WHERE decision IN ('accept', 'reject')
    QUALIFY row_number() OVER (PARTITION BY subject ORDER BY event_time DESC, source DESC, event_id DESC) = 1
),

words AS (
    SELECT source, event_id, event_time, day, run_id, workflow, input_hash, output_hash, author_hash,
        rating, NULL AS reason
    FROM feedback
    UNION ALL
    SELECT c.source, c.event_id, c.event_time, c.day, c.run_id, c.workflow, c.input_hash, c.output_hash, c.author_hash,
        NULL AS rating, c.reason
    FROM corrections AS c
    LEFT JOIN superseded AS s
        ON c.source = s.source AND c.correction_id = s.correction_id AND c.day <= s.last_day
    LEFT JOIN decided AS d
        ON c.correction_id = d.subject AND d.decision = 'reject' AND c.day <= d.day
    WHERE s.correction_id IS NULL AND d.subject IS NULL
),

found AS (
    SELECT w.source, w.event_id, w.event_time, w.author_hash, w.rating, w.reason, r.run_id, r.started_at
    FROM words AS w
    INNER JOIN runs AS r ON w.run_id = r.run_id AND r.day <= w.day
    UNION ALL
    SELECT w.source, w.event_id, w.event_time, w.author_hash, w.rating, w.reason, r.run_id, r.started_at
    FROM words AS w
    INNER JOIN runs AS r ON w.output_hash = r.output_hash
    WHERE
        w.run_id IS NULL AND r.started_at <= w.event_time
        AND (w.workflow IS NULL OR w.workflow = r.workflow) AND (w.input_hash IS NULL OR w.input_hash = r.input_hash)
    UNION ALL
    SELECT w.source, w.event_id, w.event_time, w.author_hash, w.rating, w.reason, r.run_id, r.started_at
    FROM words AS w
    INNER JOIN runs AS r ON w.input_hash = r.input_hash
    WHERE
        w.run_id IS NULL AND w.output_hash IS NULL AND r.started_at <= w.event_time
        AND (w.workflow IS NULL OR w.workflow = r.workflow)
),

said AS (
    SELECT *
    FROM found
    QUALIFY row_number() OVER (
        PARTITION BY source, event_id, reason IS NULL ORDER BY started_at DESC, run_id DESC
    ) = 1
),

-- A person who changes their mind counts with the latest; those without a name count each.
ratings AS (
    SELECT run_id, rating
    FROM said
    WHERE rating IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY run_id, coalesce(author_hash, source || chr(31) || event_id)
        ORDER BY event_time DESC, source, event_id
    ) = 1
),

rated AS (
    SELECT
        run_id,
        max(CASE WHEN rating = 'like' THEN 1 ELSE 0 END) AS liked,
        max(CASE WHEN rating = 'dislike' THEN 1 ELSE 0 END) AS disliked
    FROM ratings
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
