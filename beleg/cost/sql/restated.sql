-- What other prices would restate: published cost against `repriced`, the same steps at the changed prices.
SELECT
    CAST(new.event_time AT TIME ZONE $timezone AS DATE) AS business_day,
    new.workflow,
    count(*) AS steps,
    count(CASE WHEN NOT old.priced THEN 1 END) AS unpriced_before,
    count(CASE WHEN NOT new.priced THEN 1 END) AS unpriced_after,
    CAST(coalesce(sum(old.cost_pico_usd), 0) AS DECIMAL(38, 0)) AS before_pico_usd,
    CAST(coalesce(sum(new.cost_pico_usd), 0) AS DECIMAL(38, 0)) AS after_pico_usd
FROM repriced AS new
INNER JOIN step_costs AS old
    ON new.day = old.day AND new.source = old.source AND new.event_id = old.event_id
WHERE old.cost_pico_usd IS DISTINCT FROM new.cost_pico_usd
GROUP BY ALL
ORDER BY business_day, workflow
