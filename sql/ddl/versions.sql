-- Applicants drawn again as somebody of another gender or race, for counterfactual rescoring, and the placebos.
-- The version of what an applicant is anyway equals his row of `applicants`.
-- One row per: audit_id, applicant_id, contrast, version
CREATE TABLE IF NOT EXISTS versions (
  audit_id STRING NOT NULL,
  applicant_id STRING NOT NULL,
  job STRING NOT NULL COMMENT 'key of population.jobs',
  contrast STRING COMMENT 'key of estimation.contrasts; null = a placebo',
  version STRING NOT NULL COMMENT 'x1, x0; b_x0_r_x1: qualifications of x0, names and region of x1; b_x1_r_x0; x1_w_x0: all mediators of x0 for a screener that is told or shown x1; placebo_repeat, placebo_name',
  gender STRING NOT NULL COMMENT 'what a screener is told that is given gender itself',
  race STRING NOT NULL COMMENT 'likewise',
  age INT NOT NULL COMMENT 'years, the applicant''s own',
  state STRING NOT NULL COMMENT 'FIPS, two digits',
  region STRING NOT NULL,
  edu_level STRING NOT NULL,
  edu_group STRING NOT NULL,
  exp_year DOUBLE NOT NULL COMMENT 'years of work experience, whole months / 12',
  first_name STRING NOT NULL,
  surname STRING NOT NULL,
  first_name_gender STRING NOT NULL,
  first_name_cohort STRING NOT NULL,
  surname_race STRING NOT NULL
) USING delta CLUSTER BY (audit_id, job) COMMENT 'Silver: versions of applicants';
