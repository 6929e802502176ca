-- Question: how many applicants bear a name whose group could be another, were all counts known?
-- One row per: audit_id, job
-- Reads: applicants, first_name_typicality, surname_typicality. Unit: applicants.
-- Rows behind a number: the typicality tables, one row per name with its counts and bounds.
-- Source: the SSA leaves out names with fewer than 5 births of a year and sex; the Census Bureau suppresses small cells.
SELECT
  a.audit_id,
  a.job,
  COUNT(*) AS applicants,
  COUNT_IF(f.gender_may_flip) AS gender_group_may_flip,
  COUNT_IF(f.cohort_may_flip) AS cohort_group_may_flip,
  COUNT_IF(s.may_flip) AS surname_group_may_flip,
  COUNT_IF(f.gender_may_flip OR f.cohort_may_flip OR s.may_flip) AS any_may_flip
FROM applicants AS a
LEFT JOIN first_name_typicality AS f
  ON f.audit_id = a.audit_id AND f.name = a.first_name
LEFT JOIN surname_typicality AS s
  ON s.audit_id = a.audit_id AND s.name = a.surname
GROUP BY a.audit_id, a.job
ORDER BY a.audit_id, a.job;
