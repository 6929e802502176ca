-- Question: in which cells does the generated population differ most from the survey, and is the survey sure of them?
-- One row per: audit_id, job, margin, value
-- Reads: population_fit, population_margins. Unit: shares of a job's people (0 to 1); z in standard errors of the survey.
-- Rows behind a number: acs_person. Source: ACS PUMS, PWGTP and 80 replicate weights. The ten largest differences per job.
WITH ranked AS (
  SELECT
    f.*,
    ROW_NUMBER() OVER (
      PARTITION BY f.audit_id, f.job
      ORDER BY ABS(f.difference) DESC, f.margin, f.value
    ) AS place
  FROM population_fit AS f
)
SELECT
  r.audit_id,
  r.job,
  r.place,
  r.margin,
  r.value,
  r.survey_people,
  r.survey_share,
  r.survey_std_error,
  r.generator_share,
  r.applicants_share,
  r.difference,
  r.z,
  r.reason,
  m.mean_difference AS mean_difference_of_the_margin,
  m.share_within_two_errors
FROM ranked AS r
JOIN population_margins AS m
  USING (audit_id, job, margin)
WHERE r.place <= 10
ORDER BY r.audit_id, r.job, r.place;
