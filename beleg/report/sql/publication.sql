-- Which state of the lake this report shows.
SELECT *, strftime(CAST(as_of AS TIMESTAMP), '%Y-%m-%d %H:%M') AS as_of_utc FROM publication
