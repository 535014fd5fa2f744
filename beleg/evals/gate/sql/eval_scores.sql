-- Results by case, over all answers to it. Scores are added as decimals, so that the order of rows changes nothing.
SELECT
    feature,
    dataset_digest,
    candidate_digest,
    scorer,
    scorer_version,
    case_id,
    count(*) AS answers,
    count(*) FILTER (WHERE status = 'scored') AS scored,
    count(*) FILTER (WHERE status = 'failed') AS failed,
    count(*) FILTER (WHERE status = 'stale') AS stale,
    count(*) FILTER (WHERE status = 'missing') AS missing,
    CAST(sum(TRY_CAST(score AS DECIMAL(30, 9))) AS DOUBLE) / count(TRY_CAST(score AS DECIMAL(30, 9))) AS mean_score,
    min(score) AS least_score,
    max(event_time) AS newest
FROM eval_results
GROUP BY feature, dataset_digest, candidate_digest, scorer, scorer_version, case_id
