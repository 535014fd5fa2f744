-- What people corrected of production runs, over all days. Rates: inputs / of_runs.
SELECT
    kind,
    status,
    workflow,
    field,
    reason,
    prompt_version,
    inputs,
    people,
    of_runs,
    rate_low,
    rate_high,
    base_rate,
    previous_version,
    trend,
    earlier_finding_id
FROM findings
WHERE status <> 'rejected'
ORDER BY kind, inputs DESC, workflow, field, reason, version_place
