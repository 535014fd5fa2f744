-- Which runs and outcomes moved figures of complete days, from `moves` with their ids.
WITH figures AS (
    UNPIVOT (SELECT * FROM moves) ON COLUMNS(
        * EXCLUDE (
            run_id, outcome_id, business_day, workflow, purpose, tenant, team, prompt_version, provider, model, reason
        )
    ) INTO NAME figure VALUE delta
)

SELECT
    business_day,
    workflow,
    figure,
    reason,
    run_id,
    outcome_id,
    CAST(sum(delta) AS DECIMAL(38, 0)) AS delta
FROM figures
WHERE ($workflow IS NULL OR workflow = $workflow) AND ($figure IS NULL OR figure = $figure)
GROUP BY business_day, workflow, figure, reason, run_id, outcome_id
HAVING sum(delta) <> 0
ORDER BY business_day, workflow, figure, reason, run_id, outcome_id
