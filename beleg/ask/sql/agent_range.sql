-- The last business day on which a production run started.
SELECT max(business_day) AS last_day FROM workflow_traffic WHERE purpose = 'production'
