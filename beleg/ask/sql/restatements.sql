-- What restated complete days, summed over the rows of a workflow.
SELECT
    business_day,
    to_publication AS publication,
    restated_at,
    workflow,
    purpose,
    figure,
    reason,
    CAST(sum(delta) AS DECIMAL(38, 0)) AS delta,
    CASE WHEN figure LIKE '%_pico_usd' THEN CAST(sum(delta) AS DECIMAL(38, 0)) END AS delta_pico_usd,
    count(*) AS changed_rows
FROM restatements
WHERE
    business_day BETWEEN $from_day AND $to_day
    AND ($workflow IS NULL OR workflow = $workflow)
    AND ($publication IS NULL OR to_publication = $publication)
    AND ($figure IS NULL OR figure = $figure)
GROUP BY business_day, to_publication, restated_at, workflow, purpose, figure, reason, cause_order
ORDER BY business_day, to_publication, workflow, purpose, figure, cause_order
