-- What runs are found by, as numbers: 60 bits of a fingerprint, or of an MD5 of what is none. A null and an empty
-- text give the same one, which costs a look too many.
SELECT
    run_id,
    CAST('0x' || left(md5(run_id), 15) AS BIGINT) AS run_key,
    CASE
        WHEN input_key IS NOT NULL AND input_hash IS NOT NULL
            THEN CAST(
                '0x' || left(md5(
                    workflow || chr(31) || purpose || chr(31) || coalesce(tenant, '') || chr(31)
                    || coalesce(hash_key_id, '') || chr(31) || input_key
                ), 15) AS BIGINT
            )
    END AS input_key_series,
    CASE
        WHEN input_hash IS NOT NULL AND output_hash IS NOT NULL
            THEN CAST(
                '0x' || left(md5(
                    workflow || chr(31) || purpose || chr(31) || coalesce(tenant, '') || chr(31)
                    || coalesce(hash_key_id, '') || chr(31) || input_hash || chr(31)
                    || coalesce(prompt_version, '') || chr(31) || coalesce(model, '')
                ), 15) AS BIGINT
            )
    END AS answer_series,
    CAST('0x' || left(input_hash, 15) AS BIGINT) AS same_input,
    CAST('0x' || left(output_hash, 15) AS BIGINT) AS same_output,
    day
FROM run_costs
WHERE day IN (SELECT day FROM targets)
ORDER BY run_id
