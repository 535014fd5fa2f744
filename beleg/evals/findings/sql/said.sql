-- Corrections of production runs that nothing replaced, each under the run it counts for.
-- Places in a list are one field: `/lines/0/account` and `/lines/1/account` are `/lines/*/account`.
SELECT
    *,
    -- Twice, since one place in a list may follow another.
    rtrim(regexp_replace(regexp_replace(field || '/', '/[0-9]+/', '/*/', 'g'), '/[0-9]+/', '/*/', 'g'), '/') AS pattern,
    coalesce(coalesce(hash_key_id, '') || ':' || input_hash, run_id) AS same_input
FROM bindings
WHERE
    kind = 'correction' AND is_counted AND purpose = 'production'
    AND superseded_by IS NULL AND changed_to IS NULL
