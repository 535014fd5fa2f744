-- What people decided, in the order in which they did; the last word on a subject holds.
SELECT
  subject, decision, "by", why, labels, event_id,
  strftime(event_time AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS at
FROM reviews
WHERE $subjects IS NULL OR subject IN (SELECT unnest($subjects))
ORDER BY event_time, source, event_id
