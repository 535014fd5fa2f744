-- Rows of unit_costs of complete days, as published before and as they are now, figure by figure where they differ.
WITH sides AS (
    SELECT -1 AS sign, * FROM old_unit_costs
    UNION ALL
    SELECT 1 AS sign, * FROM new_unit_costs
),

rows_of_figures AS (
    UNPIVOT (SELECT * EXCLUDE (unit, unit_per, month) FROM sides WHERE business_day BETWEEN $first_day AND $last_day)
    ON COLUMNS(* EXCLUDE (sign, business_day, workflow, purpose, tenant, team, prompt_version, provider, model))
    INTO NAME figure VALUE amount
)

SELECT
    business_day,
    workflow,
    purpose,
    tenant,
    team,
    prompt_version,
    provider,
    model,
    figure,
    CAST(coalesce(sum(CASE WHEN sign < 0 THEN amount END), 0) AS DECIMAL(38, 0)) AS old_value,
    CAST(coalesce(sum(CASE WHEN sign > 0 THEN amount END), 0) AS DECIMAL(38, 0)) AS new_value
FROM rows_of_figures
GROUP BY ALL
HAVING sum(sign * amount) <> 0
