-- What each differing step takes from one row of unit_costs and adds to another, cause by cause: first its new price
-- where it stood, then its run, then itself. What is left over is due to policies, zone and queries.
WITH priced AS (
    SELECT
        p.*,
        CASE
            WHEN NOT $prices_changed THEN p.old_figures
            WHEN p.reason IS NULL
                THEN struct_update(
                    p.old_figures,
                    cost_pico_usd := p.new_figures.cost_pico_usd,
                    unpriced_steps := p.new_figures.unpriced_steps
                )
            WHEN r.event_id IS NULL OR NOT p.was_counted THEN p.old_figures
            ELSE struct_update(
                p.old_figures, cost_pico_usd := r.cost_pico_usd, unpriced_steps := r.unpriced_steps
            )
        END AS figures
    FROM step_pairs AS p
    LEFT JOIN repriced AS r ON p.source = r.source AND p.event_id = r.event_id
)

SELECT run_id, NULL AS outcome_id, 'price' AS reason, -1 AS sign,
    CAST(old_time AT TIME ZONE $old_timezone AS DATE) AS business_day, old_run AS run, old_call AS call,
    old_figures AS figures
FROM priced WHERE was AND figures IS DISTINCT FROM old_figures
UNION ALL
SELECT run_id, NULL, 'price', 1, CAST(old_time AT TIME ZONE $old_timezone AS DATE), old_run, old_call, figures
FROM priced WHERE was AND figures IS DISTINCT FROM old_figures
UNION ALL
SELECT run_id, NULL, run_reason, -1, CAST(old_time AT TIME ZONE $timezone AS DATE), old_run, old_call, figures
FROM priced WHERE run_reason IS NOT NULL
UNION ALL
SELECT run_id, NULL, run_reason, 1, CAST(old_time AT TIME ZONE $timezone AS DATE), new_run, old_call, figures
FROM priced WHERE run_reason IS NOT NULL
UNION ALL
SELECT run_id, NULL, reason, -1, CAST(old_time AT TIME ZONE $timezone AS DATE),
    CASE WHEN is_now THEN new_run ELSE old_run END, old_call, figures
FROM priced WHERE was AND reason IS NOT NULL
UNION ALL
SELECT run_id, NULL, reason, 1, CAST(new_time AT TIME ZONE $timezone AS DATE), new_run, new_call, new_figures
FROM priced WHERE is_now AND reason IS NOT NULL
