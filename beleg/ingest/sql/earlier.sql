-- Where stored versions of incoming identities lie. `stored` holds the days that may have any.
CREATE OR REPLACE TEMP TABLE earlier AS
SELECT source, event_id, day, filename, file_row_number
FROM stored
SEMI JOIN (SELECT source, event_id FROM incoming) USING (source, event_id)
