-- Calls of coding agents without a known price, by model and reason.
SELECT source AS agent, model, unpriced_reason AS reason, count(*) AS calls
FROM step_costs
WHERE list_contains($agents, source) AND unpriced_reason IS NOT NULL
GROUP BY source, model, unpriced_reason
ORDER BY calls DESC, agent, model, reason
