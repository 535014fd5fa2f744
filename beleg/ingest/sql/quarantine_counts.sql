-- Refused lines by reason, those with most open lines first.
SELECT
  reason,
  count(*) FILTER (status = 'open') AS open,
  count(*) FILTER (status = 'resolved') AS resolved,
  count(DISTINCT file) AS files,
  max(recorded_at) AS last_recorded_at
FROM quarantine_state
GROUP BY reason
ORDER BY open DESC, reason
