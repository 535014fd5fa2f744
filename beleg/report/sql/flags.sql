-- What exceeded its policy, by kind and workflow, with the worst case of each.
SELECT
    kind,
    workflow,
    count(*) AS flags,
    min(business_day) AS first_day,
    max(business_day) AS last_day,
    CAST(max(observed_pico_usd) AS DECIMAL(38, 0)) AS worst_pico_usd,
    CAST(arg_max(allowed_pico_usd, observed_pico_usd) AS DECIMAL(38, 0)) AS allowed_pico_usd,
    CAST(max(observed_ms) AS DECIMAL(38, 0)) AS worst_ms,
    arg_max(allowed_ms, observed_ms) AS allowed_ms,
    max(observed_risk_level) AS risk_level,
    max(allowed_risk_levels) AS allowed_risk_levels
FROM flags
WHERE business_day BETWEEN $first_day AND $last_day
GROUP BY kind, workflow
ORDER BY flags DESC, kind, workflow
