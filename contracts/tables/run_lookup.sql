-- What runs are found by, as numbers. A null and an empty text give the same one, which costs a look too many.
SELECT
    run_id,
    CAST(md5_number_lower(run_id) >> 1 AS BIGINT) AS run_key,
    CASE
        WHEN input_key IS NOT NULL AND input_hash IS NOT NULL
            THEN CAST(
                md5_number_lower(
                    workflow || chr(31) || purpose || chr(31) || coalesce(tenant, '') || chr(31)
                    || coalesce(hash_key_id, '') || chr(31) || input_key
                ) >> 1 AS BIGINT
            )
    END AS input_key_series,
    CASE
        WHEN input_hash IS NOT NULL AND output_hash IS NOT NULL
            THEN CAST(
                md5_number_lower(
                    workflow || chr(31) || purpose || chr(31) || coalesce(tenant, '') || chr(31)
                    || coalesce(hash_key_id, '') || chr(31) || input_hash || chr(31)
                    || coalesce(prompt_version, '') || chr(31) || coalesce(model, '')
                ) >> 1 AS BIGINT
            )
    END AS answer_series,
    CAST(md5_number_lower(input_hash) >> 1 AS BIGINT) AS same_input,
    CAST(md5_number_lower(output_hash) >> 1 AS BIGINT) AS same_output,
    day
FROM run_costs
WHERE day IN (SELECT day FROM targets)
ORDER BY run_id
