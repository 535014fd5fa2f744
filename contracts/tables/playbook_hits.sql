-- How often each playbook was opened and what happened while it was open. A tool call belongs to the playbook it names
-- itself, else to that of the request before it in its run.
WITH readers AS (
    SELECT DISTINCT CAST(event_time AT TIME ZONE $timezone AS DATE) AS business_day, run_id
    FROM step_costs
    WHERE playbook IS NOT NULL
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
        kind,
        status,
        playbook,
        priced,
        cost_pico_usd
    FROM step_costs
    SEMI JOIN readers USING (run_id)
    WHERE counted AND kind IN ('model', 'tool')
),

-- The time of the latest request decides which of its playbooks, or that it had none, holds for a call.
ordered AS (
    SELECT
        *,
        count(CASE WHEN kind = 'model' THEN 1 END) OVER (
            PARTITION BY business_day, run_id ORDER BY event_time, source, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS request
    FROM steps
    SEMI JOIN readers USING (business_day, run_id)
    WHERE strftime(business_day, '%Y-%m') IN (SELECT month FROM targets)
),

placed AS (
    SELECT
        *,
        CASE
            WHEN kind = 'model' THEN playbook
            ELSE coalesce(
                playbook,
                max(CASE WHEN kind = 'model' THEN playbook END) OVER (PARTITION BY business_day, run_id, request)
            )
        END AS open_playbook,
        CASE WHEN kind = 'model' THEN lag(playbook) OVER (
            PARTITION BY business_day, run_id, kind ORDER BY event_time, source, event_id
        ) END AS previous_playbook
    FROM ordered
)

SELECT
    business_day,
    workflow,
    purpose,
    feature,
    contract_version,
    prompt_version,
    open_playbook AS playbook,
    count(DISTINCT run_id) AS runs,
    count(CASE WHEN kind = 'model' AND previous_playbook IS DISTINCT FROM open_playbook THEN 1 END) AS openings,
    count(CASE WHEN kind = 'model' THEN 1 END) AS requests,
    count(CASE WHEN kind = 'model' AND status = 'failed' THEN 1 END) AS failed_requests,
    count(CASE WHEN kind = 'tool' THEN 1 END) AS tool_calls,
    count(CASE WHEN kind = 'tool' AND status = 'failed' THEN 1 END) AS failed_tool_calls,
    CAST(coalesce(sum(CASE WHEN kind = 'model' THEN cost_pico_usd END), 0) AS DECIMAL(38, 0)) AS cost_pico_usd,
    count(CASE WHEN kind = 'model' AND NOT priced THEN 1 END) AS unpriced_requests,
    strftime(business_day, '%Y-%m') AS month
FROM placed
WHERE open_playbook IS NOT NULL
GROUP BY business_day, workflow, purpose, feature, contract_version, prompt_version, open_playbook
ORDER BY business_day, workflow, purpose, feature, contract_version, prompt_version, playbook
