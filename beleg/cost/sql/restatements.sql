-- Each differing figure taken apart by causes, in their order; what no event and no price explains is policy.
WITH known AS (
    UNPIVOT (SELECT * FROM moves) ON COLUMNS(
        * EXCLUDE (business_day, workflow, purpose, tenant, team, prompt_version, provider, model, reason)
    ) INTO NAME figure VALUE delta
),

told AS (
    SELECT t.*, k.reason, k.delta
    FROM totals AS t
    INNER JOIN known AS k
        ON t.business_day = k.business_day
        AND t.workflow IS NOT DISTINCT FROM k.workflow
        AND t.purpose IS NOT DISTINCT FROM k.purpose
        AND t.tenant IS NOT DISTINCT FROM k.tenant
        AND t.team IS NOT DISTINCT FROM k.team
        AND t.prompt_version IS NOT DISTINCT FROM k.prompt_version
        AND t.provider IS NOT DISTINCT FROM k.provider
        AND t.model IS NOT DISTINCT FROM k.model
        AND t.figure = k.figure
    UNION ALL
    SELECT t.*, 'policy' AS reason, t.new_value - t.old_value AS delta
    FROM totals AS t
),

-- A cause told takes its part from what policy would have to explain.
parts AS (
    SELECT * EXCLUDE (reason, delta), reason, delta FROM told
    UNION ALL
    SELECT * EXCLUDE (reason, delta), 'policy' AS reason, -delta AS delta FROM told WHERE reason <> 'policy'
),

causes AS (
    SELECT
        * EXCLUDE (delta),
        CAST(list_position($reasons, reason) AS BIGINT) AS cause_order,
        CAST(sum(delta) AS DECIMAL(38, 0)) AS delta
    FROM parts
    GROUP BY ALL
    HAVING sum(delta) <> 0
),

chained AS (
    SELECT *, CAST(old_value + sum(delta) OVER (
        PARTITION BY business_day, workflow, purpose, tenant, team, prompt_version, provider, model, figure
        ORDER BY cause_order
    ) AS DECIMAL(38, 0)) AS after_value
    FROM causes
)

SELECT
    CAST($from_publication AS BIGINT) AS from_publication,
    CAST($to_publication AS BIGINT) AS to_publication,
    $restated_at AS restated_at,
    'unit_costs' AS table_name,
    * EXCLUDE (old_value, new_value, after_value),
    CAST(after_value - delta AS DECIMAL(38, 0)) AS old_value,
    after_value AS new_value,
    strftime(business_day, '%Y-%m') AS month
FROM chained
