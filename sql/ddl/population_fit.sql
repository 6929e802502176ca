-- How an audit's generator and applicants fit the survey: one- and two-way margins, by job.
-- One row per: audit_id, job, margin, value
CREATE TABLE IF NOT EXISTS population_fit (
  audit_id STRING NOT NULL,
  job STRING NOT NULL COMMENT 'key of population.jobs',
  margin STRING NOT NULL COMMENT 'variables of the cell: gender, race, age, age_band, state, edu_level, or two of them joined by x',
  value STRING NOT NULL COMMENT 'the cell: gender=female; race=black',
  survey_people BIGINT NOT NULL COMMENT 'surveyed people in the cell, unweighted',
  survey_share DOUBLE NOT NULL COMMENT 'share of the job''s surveyed people, by PWGTP',
  survey_std_error DOUBLE COMMENT 'of survey_share, from 80 replicate weights (successive differences); null without them',
  generator_share DOUBLE NOT NULL COMMENT 'share under the generator in the job''s population (not in the balanced design), summed exactly',
  applicants BIGINT NOT NULL COMMENT 'applicants in the cell, as drawn',
  applicants_share DOUBLE COMMENT 'share of the job''s applicants, by design_weight (1 unless mode is balanced)',
  difference DOUBLE NOT NULL COMMENT 'generator_share - survey_share',
  z DOUBLE COMMENT 'difference / survey_std_error; no test: the generator is fitted to these people',
  status STRING NOT NULL COMMENT 'ok, or not_computable: no z',
  reason STRING COMMENT 'why there is no z'
) USING delta CLUSTER BY (audit_id, job) COMMENT 'Silver: fit of the generator to the survey';
ALTER TABLE population_fit ADD CONSTRAINT status_known CHECK (status IN ('ok', 'not_computable'));
ALTER TABLE population_fit ADD CONSTRAINT null_with_reason CHECK ((status = 'ok') = (z IS NOT NULL) AND (z IS NOT NULL OR reason IS NOT NULL));
