-- The versions of each workflow in the order of their first production run.
SELECT
    workflow,
    row_number() OVER (PARTITION BY workflow ORDER BY min(business_day), prompt_version NULLS FIRST) AS version_place,
    prompt_version,
    CAST(sum(runs) AS BIGINT) AS of_runs
FROM prompt_versions
WHERE purpose = 'production'
GROUP BY workflow, prompt_version
HAVING sum(runs) > 0
ORDER BY workflow, version_place
