-- What runs are found by, reduced to 48 bits. A null and an empty text give the same key, which costs a look too many.
SELECT
    run_id,
    substr(md5(run_id), 1, 12) AS run_key,
    CASE
        WHEN input_key IS NOT NULL AND input_hash IS NOT NULL
            THEN substr(
                md5(
                    workflow || chr(31) || purpose || chr(31) || coalesce(tenant, '') || chr(31)
                    || coalesce(hash_key_id, '') || chr(31) || input_key
                ), 1, 12
            )
    END AS input_key_series,
    CASE
        WHEN input_hash IS NOT NULL AND output_hash IS NOT NULL
            THEN substr(
                md5(
                    workflow || chr(31) || purpose || chr(31) || coalesce(tenant, '') || chr(31)
                    || coalesce(hash_key_id, '') || chr(31) || input_hash || chr(31)
                    || coalesce(prompt_version, '') || chr(31) || coalesce(model, '')
                ), 1, 12
            )
    END AS answer_series,
    substr(input_hash, 1, 12) AS input_prefix,
    substr(output_hash, 1, 12) AS output_prefix,
    day
FROM run_costs
WHERE day IN (SELECT day FROM targets)
ORDER BY run_id
