-- Runs with an earlier one to compare with: of the same key, or of the same input, prompt version and model.
SELECT
    workflow,
    purpose,
    count(input_changed) AS compared_inputs,
    count(*) FILTER (input_changed) AS changed_inputs,
    max(business_day) FILTER (input_changed) AS last_input_day,
    count(output_changed) AS compared_outputs,
    count(*) FILTER (output_changed) AS changed_outputs,
    max(business_day) FILTER (output_changed) AS last_output_day
FROM drift
WHERE business_day BETWEEN $first_day AND $last_day
GROUP BY workflow, purpose
ORDER BY purpose IS DISTINCT FROM 'production', changed_outputs + changed_inputs DESC, workflow, purpose
