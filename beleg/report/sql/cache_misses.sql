-- Production requests that did not find in the cache what it may have held, by cause; hits beside for the share.
WITH requests AS (
    SELECT
        workflow,
        cause,
        detail,
        sum(requests) AS requests,
        sum(missed_tokens) AS missed_tokens,
        sum(lost_pico_usd) AS lost_pico_usd,
        sum(unknown_loss_requests) AS unknown_loss_requests,
        min(example_run_id) AS example_run_id
    FROM cache_misses
    WHERE purpose = 'production' AND business_day BETWEEN $first_day AND $last_day
    GROUP BY workflow, cause, detail
)

SELECT *, sum(requests) OVER (PARTITION BY workflow) AS of_requests
FROM requests
QUALIFY cause <> 'hit'
ORDER BY lost_pico_usd DESC, requests DESC, workflow, cause, detail
LIMIT 40
