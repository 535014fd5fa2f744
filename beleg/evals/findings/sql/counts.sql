-- How many words there are of each kind, and what became of them; those bound to nothing by reason.
SELECT
    kind,
    unbound_reason,
    count(*) FILTER (is_counted OR unbound_reason IS NOT NULL) AS words,
    count(*) FILTER (is_counted) AS bound,
    count(*) FILTER (is_counted AND candidates > 1) AS ambiguous,
    count(*) FILTER (is_counted AND holds) AS holding
FROM bindings
GROUP BY kind, unbound_reason
ORDER BY kind, unbound_reason
