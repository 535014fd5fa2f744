-- What exceeded its policy. Budgets bound money, so they count runs of every purpose.
-- A step whose run is unknown has no workflow and falls under no budget.
WITH runs AS (
    SELECT
        r.*,
        CAST(r.started_at AT TIME ZONE $timezone AS DATE) AS business_day,
        p.allowed_risk_levels
    FROM run_costs AS r
    LEFT JOIN workflow_policies AS p ON r.workflow = p.workflow
),

run_flags AS (
    SELECT
        'run_budget' AS kind,
        business_day,
        workflow,
        tenant,
        run_id,
        model,
        cost_pico_usd AS observed_pico_usd,
        CAST(run_budget_pico_usd AS DECIMAL(38, 0)) AS allowed_pico_usd,
        CAST(NULL AS DECIMAL(38, 0)) AS observed_ms,
        CAST(NULL AS BIGINT) AS allowed_ms,
        CAST(NULL AS VARCHAR) AS observed_risk_level,
        CAST(NULL AS VARCHAR) AS allowed_risk_levels,
        unpriced_steps
    FROM runs
    WHERE cost_pico_usd > run_budget_pico_usd
    UNION ALL
    SELECT
        'latency_ceiling' AS kind,
        business_day,
        workflow,
        tenant,
        run_id,
        model,
        NULL AS observed_pico_usd,
        NULL AS allowed_pico_usd,
        latency_ms AS observed_ms,
        latency_ceiling_ms AS allowed_ms,
        NULL AS observed_risk_level,
        NULL AS allowed_risk_levels,
        unpriced_steps
    FROM runs
    WHERE latency_ms > latency_ceiling_ms
    UNION ALL
    SELECT
        'risk_level' AS kind,
        business_day,
        workflow,
        tenant,
        run_id,
        model,
        NULL AS observed_pico_usd,
        NULL AS allowed_pico_usd,
        NULL AS observed_ms,
        NULL AS allowed_ms,
        risk_levels AS observed_risk_level,
        allowed_risk_levels,
        unpriced_steps
    FROM runs
    WHERE (contains(risk_levels, 'low') AND NOT contains(allowed_risk_levels, 'low'))
        OR (contains(risk_levels, 'medium') AND NOT contains(allowed_risk_levels, 'medium'))
        OR (contains(risk_levels, 'high') AND NOT contains(allowed_risk_levels, 'high'))
    UNION ALL
    SELECT
        'risk_unclassified' AS kind,
        business_day,
        workflow,
        tenant,
        run_id,
        model,
        NULL AS observed_pico_usd,
        NULL AS allowed_pico_usd,
        NULL AS observed_ms,
        NULL AS allowed_ms,
        NULL AS observed_risk_level,
        allowed_risk_levels,
        unpriced_steps
    FROM runs
    WHERE allowed_risk_levels IS NOT NULL AND unclassified_steps > 0
),

spending AS (
    SELECT
        business_day,
        CAST(date_trunc('month', business_day) AS DATE) AS first_of_month,
        workflow,
        tenant,
        cost_pico_usd,
        unpriced_steps
    FROM unit_costs
    WHERE workflow IS NOT NULL
),

periods AS (
    SELECT 'day' AS period, business_day, workflow, tenant, cost_pico_usd, unpriced_steps FROM spending
    UNION ALL
    SELECT 'month' AS period, first_of_month AS business_day, workflow, tenant, cost_pico_usd, unpriced_steps
    FROM spending
),

scopes AS (
    SELECT 'workflow' AS scope, period, business_day, workflow, NULL AS tenant, cost_pico_usd, unpriced_steps
    FROM periods
    UNION ALL
    SELECT 'tenant' AS scope, period, business_day, workflow, tenant, cost_pico_usd, unpriced_steps
    FROM periods
    WHERE tenant IS NOT NULL
),

spent AS (
    SELECT
        scope,
        period,
        business_day,
        workflow,
        tenant,
        CAST(sum(cost_pico_usd) AS DECIMAL(38, 0)) AS cost_pico_usd,
        CAST(sum(unpriced_steps) AS BIGINT) AS unpriced_steps
    FROM scopes
    GROUP BY scope, period, business_day, workflow, tenant
),

-- A budget that names the tenant wins over the one for every tenant.
budgeted AS (
    SELECT
        s.*,
        coalesce(named.budget_pico_usd, general.budget_pico_usd) AS budget_pico_usd
    FROM spent AS s
    LEFT JOIN budgets AS named
        ON s.scope = named.scope AND s.period = named.period AND s.workflow = named.workflow
        AND s.tenant = named.tenant
    LEFT JOIN budgets AS general
        ON s.scope = general.scope AND s.period = general.period AND s.workflow = general.workflow
        AND general.tenant IS NULL
),

all_flags AS (
    SELECT * FROM run_flags
    UNION ALL
    SELECT
        scope || '_budget_' || period AS kind,
        business_day,
        workflow,
        tenant,
        NULL AS run_id,
        NULL AS model,
        cost_pico_usd AS observed_pico_usd,
        CAST(budget_pico_usd AS DECIMAL(38, 0)) AS allowed_pico_usd,
        NULL AS observed_ms,
        NULL AS allowed_ms,
        NULL AS observed_risk_level,
        NULL AS allowed_risk_levels,
        unpriced_steps
    FROM budgeted
    WHERE cost_pico_usd > budget_pico_usd
)

SELECT
    kind,
    business_day,
    workflow,
    tenant,
    run_id,
    model,
    observed_pico_usd,
    allowed_pico_usd,
    observed_ms,
    allowed_ms,
    observed_risk_level,
    allowed_risk_levels,
    unpriced_steps,
    strftime(business_day, '%Y-%m') AS month
FROM all_flags
WHERE strftime(business_day, '%Y-%m') IN (SELECT month FROM targets)
ORDER BY business_day, kind, workflow, tenant, run_id
