-- What people said, with the runs it is about. A word names its run by id or by fingerprints; a tenant or workflow
-- that word and run both name must be the same, and the run must have started before the word: by fingerprint to the
-- instant, by id to the day. Of several that fit the latest is counted, and at most the latest 100 are listed.
WITH words AS (
    SELECT
        'feedback' AS kind, source, event_id, event_time, day, tenant, workflow, run_id, input_hash, output_hash,
        author_hash, rating, NULL AS correction_id, NULL AS supersedes, NULL AS field, NULL AS reason
    FROM feedback
    UNION ALL
    SELECT
        'correction' AS kind, source, event_id, event_time, day, tenant, workflow, run_id, input_hash, output_hash,
        author_hash, NULL AS rating, correction_id, supersedes, field, reason
    FROM corrections
),

-- Words that name a run in the same way share a number, so that a result a million runs had is looked up once.
named AS (
    SELECT
        *,
        dense_rank() OVER (ORDER BY named_by, named_run, named_input, named_output, workflow, tenant) AS key_number,
        CASE
            WHEN named_by = 'run_id' THEN CAST(day AS TIMESTAMP WITH TIME ZONE) + INTERVAL '1' DAY
            ELSE event_time + INTERVAL '1' MICROSECOND
        END AS said_before
    FROM (
        SELECT
            *,
            CASE
                WHEN run_id IS NOT NULL THEN 'run_id'
                WHEN input_hash IS NULL THEN 'output'
                WHEN output_hash IS NULL THEN 'input'
                ELSE 'input_and_output'
            END AS named_by,
            run_id AS named_run,
            CASE WHEN run_id IS NULL THEN input_hash END AS named_input,
            CASE WHEN run_id IS NULL THEN output_hash END AS named_output
        FROM words
    ) AS w
),

name_keys AS (
    SELECT DISTINCT key_number, named_by, named_run, named_input, named_output, workflow, tenant
    FROM named
),

runs AS (
    SELECT
        run_id, started_at, day AS run_day, workflow, purpose, tenant, feature, prompt_version, input_ref, input_hash,
        output_hash, hash_key_id
    FROM run_costs
),

found AS (
    SELECT k.key_number, k.workflow AS said_workflow, k.tenant AS said_tenant, r.*
    FROM name_keys AS k
    INNER JOIN runs AS r ON k.named_run = r.run_id
    UNION ALL
    SELECT k.key_number, k.workflow AS said_workflow, k.tenant AS said_tenant, r.*
    FROM name_keys AS k
    INNER JOIN runs AS r ON k.named_output = r.output_hash AND k.named_input = r.input_hash
    UNION ALL
    SELECT k.key_number, k.workflow AS said_workflow, k.tenant AS said_tenant, r.*
    FROM name_keys AS k
    INNER JOIN runs AS r ON k.named_output = r.output_hash
    WHERE k.named_by = 'output'
    UNION ALL
    SELECT k.key_number, k.workflow AS said_workflow, k.tenant AS said_tenant, r.*
    FROM name_keys AS k
    INNER JOIN runs AS r ON k.named_input = r.input_hash
    WHERE k.named_by = 'input'
),

judged AS (
    SELECT
        *,
        CASE
            WHEN said_tenant <> tenant THEN 'other_tenant'
            WHEN said_workflow <> workflow THEN 'other_workflow'
            ELSE 'fits'
        END AS verdict
    FROM found
),

fitting AS (
    SELECT *, row_number() OVER (PARTITION BY key_number ORDER BY started_at, run_id) AS place
    FROM judged
    WHERE verdict = 'fits'
),

-- How many fitting runs had started when the word was said: its own run is the last of them.
counted AS (
    SELECT
        kind,
        source,
        event_id,
        CAST(sum(is_run) OVER (
            PARTITION BY key_number ORDER BY instant, is_run ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS BIGINT) AS candidates,
        is_run
    FROM (
        SELECT NULL AS kind, NULL AS source, NULL AS event_id, key_number, started_at AS instant, 1 AS is_run
        FROM fitting
        UNION ALL
        SELECT kind, source, event_id, key_number, said_before AS instant, 0 AS is_run
        FROM named
    ) AS both_sides
),

spoken AS (
    SELECT n.*, c.candidates
    FROM named AS n
    INNER JOIN counted AS c ON n.kind = c.kind AND n.source = c.source AND n.event_id = c.event_id
    WHERE c.is_run = 0
),

-- Blocks of a hundred places turn `the latest hundred` into equal numbers, which engines join quickly.
listed AS (
    SELECT s.kind, s.source, s.event_id, f.*, f.place = s.candidates AS is_counted
    FROM (
        SELECT *, candidates - candidates % 100 AS block FROM spoken WHERE candidates > 0
        UNION ALL
        SELECT *, candidates - candidates % 100 - 100 AS block FROM spoken WHERE candidates > 0
    ) AS s
    INNER JOIN fitting AS f ON s.key_number = f.key_number AND s.block = f.place - f.place % 100
    WHERE f.place <= s.candidates AND f.place > s.candidates - 100
),

-- Why others are bound to nothing. Runs that start later than the day after a word are none that it can be about.
near_misses AS (
    SELECT
        key_number,
        min(CASE WHEN verdict = 'fits' THEN run_day END) AS later_day,
        min(CASE WHEN verdict = 'other_tenant' THEN run_day END) AS tenant_day,
        min(CASE WHEN verdict = 'other_workflow' THEN run_day END) AS workflow_day
    FROM judged
    GROUP BY key_number
),

inputs AS (
    SELECT input_hash, hash_key_id, min(run_day) AS run_day
    FROM runs
    WHERE input_hash IN (SELECT named_input FROM name_keys)
    GROUP BY input_hash, hash_key_id
),

outputs AS (
    SELECT output_hash, hash_key_id, min(run_day) AS run_day
    FROM runs
    WHERE output_hash IN (SELECT named_output FROM name_keys)
    GROUP BY output_hash, hash_key_id
),

-- An input and an output that runs had, but no run both: under one key, or made under different ones.
halves AS (
    SELECT
        k.key_number,
        min(CASE
            WHEN i.hash_key_id IS NOT DISTINCT FROM o.hash_key_id THEN greatest(i.run_day, o.run_day)
        END) AS same_key_day,
        min(greatest(i.run_day, o.run_day)) AS any_key_day
    FROM name_keys AS k
    INNER JOIN inputs AS i ON k.named_input = i.input_hash
    INNER JOIN outputs AS o ON k.named_output = o.output_hash
    WHERE k.named_by = 'input_and_output'
    GROUP BY k.key_number
),

unbound AS (
    SELECT
        s.kind,
        s.source,
        s.event_id,
        CASE
            WHEN m.later_day <= s.day + INTERVAL '1' DAY THEN 'after_the_word'
            WHEN m.tenant_day <= s.day + INTERVAL '1' DAY THEN 'other_tenant'
            WHEN m.workflow_day <= s.day + INTERVAL '1' DAY THEN 'other_workflow'
            WHEN s.named_by = 'run_id' THEN 'unknown_run'
            WHEN h.same_key_day <= s.day + INTERVAL '1' DAY THEN 'other_result'
            WHEN h.any_key_day <= s.day + INTERVAL '1' DAY THEN 'other_key'
            ELSE 'no_such_fingerprint'
        END AS unbound_reason
    FROM spoken AS s
    LEFT JOIN near_misses AS m ON s.key_number = m.key_number
    LEFT JOIN halves AS h ON s.key_number = h.key_number
    WHERE s.candidates = 0
),

-- A correction that names another one replaces it unless it is the earlier of the two; two that name each other at
-- the same instant replace neither.
superseded AS (
    SELECT c.source, c.correction_id, min(later.correction_id) AS superseded_by
    FROM corrections AS c
    INNER JOIN corrections AS later ON c.source = later.source AND c.correction_id = later.supersedes
    WHERE
        later.event_time > c.event_time
        OR (later.event_time = c.event_time AND c.supersedes IS DISTINCT FROM later.correction_id)
    GROUP BY c.source, c.correction_id
),

decided AS (
    SELECT subject, decision, day
    FROM reviews
    WHERE decision IN ('accept', 'reject')
    QUALIFY row_number() OVER (PARTITION BY subject ORDER BY event_time DESC, source DESC, event_id DESC) = 1
),

-- What the same person said last of the same run, and of a correction of the same field.
latest AS (
    SELECT
        s.kind,
        s.source,
        s.event_id,
        first_value(s.event_id) OVER (
            PARTITION BY s.kind, l.run_id, s.author_hash, s.field
            ORDER BY s.event_time DESC, s.source DESC, s.event_id DESC
        ) AS last_event_id,
        first_value(s.source) OVER (
            PARTITION BY s.kind, l.run_id, s.author_hash, s.field
            ORDER BY s.event_time DESC, s.source DESC, s.event_id DESC
        ) AS last_source
    FROM spoken AS s
    INNER JOIN listed AS l ON s.kind = l.kind AND s.source = l.source AND s.event_id = l.event_id AND l.is_counted
    WHERE s.author_hash IS NOT NULL
),

said AS (
    SELECT
        s.*,
        u.unbound_reason,
        v.superseded_by,
        d.decision,
        CASE WHEN t.last_event_id <> s.event_id OR t.last_source <> s.source THEN t.last_event_id END AS changed_to
    FROM spoken AS s
    LEFT JOIN unbound AS u ON s.kind = u.kind AND s.source = u.source AND s.event_id = u.event_id
    LEFT JOIN superseded AS v ON s.source = v.source AND s.correction_id = v.correction_id
    LEFT JOIN decided AS d ON s.correction_id = d.subject AND s.day <= d.day
    LEFT JOIN latest AS t ON s.kind = t.kind AND s.source = t.source AND s.event_id = t.event_id
    WHERE s.day IN (SELECT day FROM targets)
)

SELECT
    s.kind,
    s.source,
    s.event_id,
    s.event_time,
    s.correction_id,
    s.field,
    s.reason,
    s.rating,
    s.author_hash,
    CASE WHEN s.candidates > 0 THEN s.named_by END AS how,
    s.unbound_reason,
    s.candidates,
    l.run_id,
    coalesce(l.is_counted, false) AS is_counted,
    s.superseded_by,
    s.changed_to,
    s.decision,
    s.superseded_by IS NULL AND s.changed_to IS NULL AND s.decision IS DISTINCT FROM 'reject' AS holds,
    CASE
        WHEN l.run_id IS NULL OR s.named_by <> 'run_id' THEN NULL
        WHEN s.input_hash <> l.input_hash OR s.output_hash <> l.output_hash THEN false
        WHEN s.input_hash = l.input_hash OR s.output_hash = l.output_hash THEN true
    END AS fingerprints_agree,
    l.run_day,
    coalesce(l.workflow, s.workflow) AS workflow,
    l.purpose,
    coalesce(l.tenant, s.tenant) AS tenant,
    l.feature,
    l.prompt_version,
    l.input_ref,
    l.input_hash,
    l.hash_key_id,
    s.day
FROM said AS s
LEFT JOIN listed AS l ON s.kind = l.kind AND s.source = l.source AND s.event_id = l.event_id
ORDER BY event_time, kind, source, event_id, run_id
