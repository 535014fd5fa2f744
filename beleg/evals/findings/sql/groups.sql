-- Corrections of production runs by workflow, field, reason and prompt version, and the runs each group is a part of.
SELECT
    s.workflow,
    s.pattern AS field,
    s.reason,
    s.prompt_version,
    v.version_place,
    greatest(v.of_runs, count(DISTINCT s.same_input)) AS of_runs,
    count(DISTINCT CASE WHEN s.holds THEN s.same_input END) AS inputs,
    count(DISTINCT CASE WHEN s.holds THEN s.author_hash END) AS people,
    count(DISTINCT CASE WHEN s.holds THEN s.run_id END) AS runs,
    count(*) AS corrections,
    count(CASE WHEN NOT s.holds THEN 1 END) AS rejected_corrections,
    min(s.event_time) AS first_said_at,
    max(s.event_time) AS last_said_at
FROM said AS s
INNER JOIN version_places AS v ON s.workflow = v.workflow AND s.prompt_version IS NOT DISTINCT FROM v.prompt_version
GROUP BY s.workflow, s.pattern, s.reason, s.prompt_version, v.version_place, v.of_runs
ORDER BY s.workflow, s.pattern, s.reason, v.version_place
