-- What a model had to hold in each request of an agent. A body's tokens are nowhere reported: the prompt grew by it in
-- the request in which its playbook was first open, which is an upper bound, since what else was new is in it too.
WITH agents AS (
    SELECT DISTINCT CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day, run_id
    FROM step_costs
    WHERE
        counted AND kind = 'model'
        AND (toolset_hash IS NOT NULL OR layout_hash IS NOT NULL OR playbook IS NOT NULL)
),

steps AS (
    SELECT
        CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day,
        event_time,
        source,
        event_id,
        run_id,
        workflow,
        purpose,
        feature,
        contract_version,
        prompt_version,
        provider,
        model,
        toolset_hash,
        layout_hash,
        playbook,
        total_input_tokens,
        coalesce(output_tokens, 0) AS output_tokens
    FROM step_costs
    SEMI JOIN agents USING (run_id)
    WHERE counted AND kind = 'model'
),

ordered AS (
    SELECT
        *,
        lag(playbook) OVER in_run IS DISTINCT FROM playbook AS is_opened,
        lag(run_id) OVER in_run IS NOT NULL AS has_previous,
        total_input_tokens - lag(total_input_tokens) OVER in_run - lag(output_tokens) OVER in_run AS grown_tokens
    FROM steps
    SEMI JOIN agents USING (business_day, run_id)
    WHERE strftime(business_day, '%Y-%m') IN (SELECT month FROM targets)
    WINDOW in_run AS (PARTITION BY business_day, run_id, provider, model ORDER BY event_time, source, event_id)
),

-- One stretch of requests from the opening of a playbook to that of the next.
stretches AS (
    SELECT
        *,
        count(CASE WHEN is_opened THEN 1 END) OVER (
            PARTITION BY business_day, run_id, provider, model ORDER BY event_time, source, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS stretch
    FROM ordered
),

measured AS (
    SELECT
        *,
        CASE
            WHEN playbook IS NOT NULL
                THEN max(CASE WHEN is_opened AND has_previous THEN greatest(grown_tokens, 0) END) OVER (
                    PARTITION BY business_day, run_id, provider, model, stretch
                )
        END AS body_tokens
    FROM stretches
),

layout_sizes AS (
    SELECT
        layout_hash,
        CAST(coalesce(sum(CASE WHEN part = 'instructions' THEN tokens END), 0) AS BIGINT) AS instruction_tokens,
        CAST(coalesce(sum(CASE WHEN part = 'index' THEN tokens END), 0) AS BIGINT) AS index_tokens
    FROM layout_segments
    GROUP BY layout_hash
),

requests AS (
    SELECT
        m.*,
        z.cohort,
        z.tools,
        z.tool_tokens,
        l.instruction_tokens,
        l.index_tokens,
        z.tool_tokens + l.instruction_tokens + l.index_tokens + coalesce(m.body_tokens, 0) AS held_tokens
    FROM measured AS m
    LEFT JOIN toolset_sizes AS z ON m.toolset_hash = z.toolset_hash
    LEFT JOIN layout_sizes AS l ON m.layout_hash = l.layout_hash
)

SELECT
    business_day,
    workflow,
    purpose,
    feature,
    contract_version,
    prompt_version,
    cohort,
    count(*) AS requests,
    count(tools) AS tool_requests,
    CAST(coalesce(sum(tools), 0) AS DECIMAL(38, 0)) AS offered_tools,
    max(tools) AS max_offered_tools,
    count(tool_tokens) AS counted_tool_requests,
    CAST(coalesce(sum(tool_tokens), 0) AS DECIMAL(38, 0)) AS tool_tokens,
    count(instruction_tokens) AS layout_requests,
    CAST(coalesce(sum(instruction_tokens), 0) AS DECIMAL(38, 0)) AS instruction_tokens,
    CAST(coalesce(sum(index_tokens), 0) AS DECIMAL(38, 0)) AS index_tokens,
    count(playbook) AS playbook_requests,
    count(body_tokens) AS measured_body_requests,
    CAST(coalesce(sum(body_tokens), 0) AS DECIMAL(38, 0)) AS body_tokens,
    count(held_tokens) AS held_requests,
    CAST(coalesce(sum(held_tokens), 0) AS DECIMAL(38, 0)) AS held_tokens,
    max(held_tokens) AS max_held_tokens,
    strftime(business_day, '%Y-%m') AS month
FROM requests
GROUP BY business_day, workflow, purpose, feature, contract_version, prompt_version, cohort
ORDER BY business_day, workflow, purpose, feature, contract_version, prompt_version, cohort
