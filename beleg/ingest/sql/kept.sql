-- Stored rows of rewritten days that stay.
SELECT * EXCLUDE (filename, file_row_number) FROM rewritten
ANTI JOIN (SELECT filename, file_row_number FROM contest WHERE NOT is_new AND NOT wins) USING (filename, file_row_number)
