-- Why a request did not find in the cache what the one before it had left there. A request is compared with the one
-- before it in its thread (conversation or run, workflow, name of the call, provider and model); where there is none,
-- with the latest of the same toolset and layout, and last with the latest of the same cohort. Nothing is compared with a
-- request of more than a day before: no provider keeps an entry that long without use.
WITH calls AS (
    SELECT
        CAST(s.event_time AT TIME ZONE $timezone AS DATE) AS business_day,
        s.event_time,
        -- Latency is in whole milliseconds: up to one less, so that the next call of a quick loop does not overlap. A day
        -- at most: nothing is compared over more.
        s.event_time + least(greatest(coalesce(s.latency_ms, 0) - 1, 0), 86400000) * INTERVAL 1 MILLISECOND AS answered_at,
        s.source,
        s.event_id,
        s.run_id,
        coalesce(s.conversation_id, s.run_id) AS thread,
        s.workflow,
        s.purpose,
        s.feature,
        s.contract_version,
        s.prompt_version,
        s.name,
        s.provider,
        s.model,
        s.toolset_hash,
        s.layout_hash,
        s.cache_miss_reason,
        coalesce(s.total_input_tokens, 0) AS input_tokens,
        coalesce(s.cache_read_tokens, 0) + coalesce(s.cache_read_audio_tokens, 0)
        + coalesce(s.cache_read_image_tokens, 0) AS read_tokens,
        coalesce(s.cache_write_tokens, 0) + coalesce(s.cache_write_5m_tokens, 0)
        + coalesce(s.cache_write_1h_tokens, 0) AS write_tokens,
        CASE WHEN s.cache_write_1h_tokens > 0 THEN r.long_lifetime ELSE r.lifetime END AS lifetime,
        coalesce(r.increment_tokens, 0) AS increment_tokens,
        coalesce(r.minimum_tokens, 0) AS minimum_tokens,
        coalesce(r.has_breakpoints, FALSE) AS has_breakpoints,
        s.input_uncached_price_pico_usd AS uncached_price,
        s.cache_read_price_pico_usd AS read_price,
        CASE
            WHEN s.cache_write_5m_tokens > 0 THEN s.cache_write_5m_price_pico_usd
            WHEN s.cache_write_1h_tokens > 0 THEN s.cache_write_1h_price_pico_usd
            WHEN s.cache_write_tokens > 0 THEN s.cache_write_price_pico_usd
            ELSE s.input_uncached_price_pico_usd
        END AS write_price
    FROM step_costs AS s
    LEFT JOIN cache_rules AS r
        ON s.provider IS NOT DISTINCT FROM r.provider AND s.model IS NOT DISTINCT FROM r.model
    WHERE
        s.counted AND s.kind = 'model' AND (
            s.cache_read_tokens IS NOT NULL OR s.cache_read_audio_tokens IS NOT NULL
            OR s.cache_read_image_tokens IS NOT NULL
        )
),

-- Where breakpoints decide, a request leaves what it read and wrote, elsewhere all of its prompt; nothing that is shorter
-- than the shortest prefix.
kept AS (
    SELECT
        *,
        event_time + lifetime AS kept_until,
        CASE
            WHEN has_breakpoints OR write_tokens > 0 THEN read_tokens + write_tokens
            WHEN input_tokens < minimum_tokens THEN 0
            ELSE input_tokens
        END AS kept_tokens
    FROM calls
),

-- Most threads are one request, which needs no sorting.
long_threads AS (
    SELECT thread FROM kept GROUP BY thread HAVING count(*) > 1
),

followed AS (
    SELECT
        source,
        event_id,
        event_time,
        lag(event_time) OVER in_thread AS before_time,
        lag(answered_at) OVER in_thread AS answered_at,
        lag(kept_until) OVER in_thread AS kept_until,
        lag(kept_tokens) OVER in_thread AS kept_tokens,
        lag(toolset_hash) OVER in_thread AS toolset_hash,
        lag(layout_hash) OVER in_thread AS layout_hash
    FROM kept
    SEMI JOIN long_threads USING (thread)
    WINDOW in_thread AS (
        PARTITION BY workflow, purpose, thread, name, provider, model ORDER BY event_time, source, event_id
    )
),

alike AS (
    SELECT
        k.source,
        k.event_id,
        k.event_time,
        lag(k.event_time) OVER same_prefix AS prefix_time,
        lag(k.answered_at) OVER same_prefix AS prefix_answered_at,
        lag(k.kept_until) OVER same_prefix AS prefix_kept_until,
        lag(k.event_time) OVER same_cohort AS cohort_time,
        lag(k.kept_until) OVER same_cohort AS cohort_kept_until,
        lag(k.toolset_hash) OVER same_cohort AS cohort_toolset_hash,
        lag(k.layout_hash) OVER same_cohort AS cohort_layout_hash
    FROM kept AS k
    LEFT JOIN toolset_sizes AS z ON k.toolset_hash = z.toolset_hash
    WHERE k.toolset_hash IS NOT NULL OR k.layout_hash IS NOT NULL
    WINDOW
        same_prefix AS (
            PARTITION BY k.workflow, k.purpose, k.name, k.provider, k.model, k.toolset_hash, k.layout_hash
            ORDER BY k.event_time, k.source, k.event_id
        ),
        same_cohort AS (
            PARTITION BY k.workflow, k.purpose, k.name, k.provider, k.model, coalesce(z.cohort, k.toolset_hash)
            ORDER BY k.event_time, k.source, k.event_id
        )
),

compared AS (
    SELECT
        k.*,
        f.before_time IS NOT NULL AND f.kept_tokens > 0 AS is_followed,
        least(coalesce(f.kept_tokens, 0), k.input_tokens) AS expected_tokens,
        f.answered_at AS before_answered_at,
        f.kept_until AS before_kept_until,
        f.toolset_hash AS before_toolset_hash,
        f.layout_hash AS before_layout_hash,
        a.prefix_time,
        a.prefix_answered_at,
        a.prefix_kept_until,
        c.cohort_time,
        c.cohort_toolset_hash,
        c.cohort_layout_hash
    FROM kept AS k
    LEFT JOIN followed AS f
        ON k.source = f.source AND k.event_id = f.event_id AND f.event_time - INTERVAL 1 DAY <= f.before_time
    LEFT JOIN alike AS a
        ON k.source = a.source AND k.event_id = a.event_id AND a.event_time - INTERVAL 1 DAY <= a.prefix_time
    LEFT JOIN alike AS c
        ON k.source = c.source AND k.event_id = c.event_id AND c.event_time <= c.cohort_kept_until
    WHERE strftime(k.business_day, '%Y-%m') IN (SELECT month FROM targets)
),

-- A text of the turn before what is shared: everything behind it is new each time, whatever it says.
volatile AS (
    SELECT layout_hash, segment
    FROM (
        SELECT
            layout_hash,
            place,
            segment,
            scope,
            max(CASE WHEN scope <> 'turn' THEN place END) OVER (PARTITION BY layout_hash) AS last_shared_place
        FROM layout_segments
    ) AS placed
    WHERE scope = 'turn' AND place < last_shared_place
    QUALIFY row_number() OVER (PARTITION BY layout_hash ORDER BY place) = 1
),

judged AS (
    SELECT
        c.*,
        v.segment AS volatile_segment,
        CASE
            WHEN is_followed AND read_tokens + increment_tokens >= expected_tokens THEN 'hit'
            WHEN NOT is_followed AND read_tokens > 0 THEN 'hit'
            WHEN input_tokens < minimum_tokens THEN 'below_minimum'
            WHEN has_breakpoints AND read_tokens + write_tokens = 0 THEN 'no_breakpoint'
            WHEN cache_miss_reason IS NOT NULL THEN 'provider_reason'
            WHEN is_followed AND before_answered_at > event_time THEN 'concurrent'
            WHEN is_followed AND before_kept_until < event_time THEN 'expired'
            WHEN is_followed AND before_toolset_hash <> toolset_hash THEN 'tools_changed'
            WHEN is_followed AND before_layout_hash <> c.layout_hash THEN 'layout_changed'
            WHEN is_followed AND v.segment IS NOT NULL THEN 'volatile_segment'
            WHEN is_followed THEN 'unexplained'
            WHEN prefix_answered_at > event_time THEN 'concurrent'
            WHEN prefix_kept_until < event_time THEN 'expired'
            WHEN prefix_time IS NOT NULL AND v.segment IS NOT NULL THEN 'volatile_segment'
            WHEN prefix_time IS NOT NULL THEN 'unexplained'
            WHEN cohort_toolset_hash <> toolset_hash THEN 'tools_changed'
            WHEN cohort_layout_hash <> c.layout_hash THEN 'layout_changed'
            ELSE 'first_use'
        END AS cause,
        CASE WHEN is_followed THEN greatest(expected_tokens - read_tokens, 0) ELSE 0 END AS short_tokens
    FROM compared AS c
    LEFT JOIN volatile AS v ON c.layout_hash = v.layout_hash
),

caused AS (
    SELECT
        *,
        CASE WHEN cause = 'hit' THEN 0 ELSE short_tokens END AS missed_tokens,
        CASE
            WHEN cause = 'tools_changed' AND is_followed THEN before_toolset_hash
            WHEN cause = 'tools_changed' THEN cohort_toolset_hash
            WHEN cause = 'layout_changed' AND is_followed THEN before_layout_hash
            WHEN cause = 'layout_changed' THEN cohort_layout_hash
        END AS before_digest,
        CASE
            WHEN cause = 'tools_changed' THEN toolset_hash
            WHEN cause = 'layout_changed' THEN layout_hash
        END AS digest
    FROM judged
),

-- The first tool or segment in which two definitions differ.
pairs AS (
    SELECT DISTINCT before_digest, digest FROM caused WHERE digest IS NOT NULL
),

parts AS (
    SELECT toolset_hash AS digest, place, tool_name AS name, CAST(definition_tokens AS VARCHAR) AS mark
    FROM toolset_tools
    UNION ALL
    SELECT layout_hash AS digest, place, segment AS name, hash AS mark FROM layout_segments
),

sides AS (
    SELECT p.before_digest, p.digest, n.place, n.name, n.mark, NULL AS before_name, NULL AS before_mark
    FROM pairs AS p
    INNER JOIN parts AS n ON p.digest = n.digest
    UNION ALL
    SELECT p.before_digest, p.digest, o.place, NULL AS name, NULL AS mark, o.name AS before_name, o.mark AS before_mark
    FROM pairs AS p
    INNER JOIN parts AS o ON p.before_digest = o.digest
),

side_by_side AS (
    SELECT
        before_digest,
        digest,
        place,
        max(name) AS name,
        max(before_name) AS before_name,
        max(mark) AS mark,
        max(before_mark) AS before_mark
    FROM sides
    GROUP BY before_digest, digest, place
),

differing AS (
    SELECT before_digest, digest, coalesce(name, before_name) AS name
    FROM side_by_side
    WHERE name IS DISTINCT FROM before_name OR mark IS DISTINCT FROM before_mark
    QUALIFY row_number() OVER (PARTITION BY before_digest, digest ORDER BY place) = 1
),

-- Missed tokens were written again where anything was written, else paid in full.
told AS (
    SELECT
        c.*,
        CASE
            WHEN c.cause = 'provider_reason' THEN split_part(c.cache_miss_reason, ':', 1)
            WHEN c.cause = 'volatile_segment' THEN c.volatile_segment
            ELSE d.name
        END AS detail,
        CASE
            WHEN c.missed_tokens = 0 THEN 0
            ELSE CAST(least(c.missed_tokens, c.write_tokens) AS DECIMAL(18, 0)) * (c.write_price - c.read_price)
                + CAST(greatest(c.missed_tokens - c.write_tokens, 0) AS DECIMAL(18, 0))
                * (c.uncached_price - c.read_price)
        END AS lost_pico_usd
    FROM caused AS c
    LEFT JOIN differing AS d ON c.before_digest = d.before_digest AND c.digest = d.digest
)

SELECT
    business_day,
    workflow,
    purpose,
    feature,
    contract_version,
    prompt_version,
    provider,
    model,
    layout_hash,
    cause,
    detail,
    count(*) AS requests,
    CAST(sum(input_tokens) AS DECIMAL(38, 0)) AS input_tokens,
    CAST(sum(read_tokens) AS DECIMAL(38, 0)) AS cache_read_tokens,
    CAST(sum(write_tokens) AS DECIMAL(38, 0)) AS cache_write_tokens,
    CAST(sum(missed_tokens) AS DECIMAL(38, 0)) AS missed_tokens,
    CAST(coalesce(sum(lost_pico_usd), 0) AS DECIMAL(38, 0)) AS lost_pico_usd,
    count(*) - count(lost_pico_usd) AS unknown_loss_requests,
    min(CASE WHEN cause <> 'hit' THEN run_id END) AS example_run_id,
    strftime(business_day, '%Y-%m') AS month
FROM told
GROUP BY
    business_day, workflow, purpose, feature, contract_version, prompt_version, provider, model, layout_hash, cause, detail
ORDER BY
    business_day, workflow, purpose, feature, contract_version, prompt_version, provider, model, layout_hash, cause, detail
