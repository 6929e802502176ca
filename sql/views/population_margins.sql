-- Question: how closely do generator and applicants follow the survey, margin by margin?
-- One row per: audit_id, job, margin
-- Reads: population_fit. Unit: shares of a job's people (0 to 1). Null z = no replicate weights, or nobody surveyed.
-- Rows behind a number: population_fit, one row per cell. Source: ACS PUMS; errors by successive differences.
SELECT
  audit_id,
  job,
  margin,
  COUNT(*) AS cells,
  MAX(ABS(difference)) AS largest_difference,
  MAX_BY(value, STRUCT(ABS(difference), value)) AS largest_at,
  AVG(ABS(difference)) AS mean_difference,
  SUM(ABS(difference)) / 2 AS total_variation,
  SUM(CASE WHEN z IS NOT NULL THEN 1 ELSE 0 END) AS cells_with_error,
  AVG(CASE WHEN z IS NULL THEN NULL WHEN ABS(z) <= 2 THEN 1.0D ELSE 0.0D END) AS share_within_two_errors,
  MAX(ABS(z)) AS largest_z,
  MAX(ABS(applicants_share - generator_share)) AS largest_difference_of_applicants,
  MIN(CASE WHEN z IS NULL AND survey_people > 0 THEN reason END) AS reason
FROM population_fit
GROUP BY audit_id, job, margin
