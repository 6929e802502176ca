-- Applicants of an audit: everything that a resume may depend on, and the groups used in estimation.
-- One row per: audit_id, applicant_id
CREATE TABLE IF NOT EXISTS applicants (
  audit_id STRING NOT NULL,
  applicant_id STRING NOT NULL,
  job STRING NOT NULL COMMENT 'key of population.jobs',
  gender STRING NOT NULL COMMENT 'female or male',
  race STRING NOT NULL COMMENT 'key of population.races',
  age INT NOT NULL COMMENT 'years',
  birth_year INT NOT NULL COMMENT 'year of documents.as_of minus age',
  state STRING NOT NULL COMMENT 'FIPS, two digits',
  region STRING NOT NULL COMMENT 'northeast, midwest, south, west (Census Bureau)',
  edu_level STRING NOT NULL COMMENT 'one of seven levels',
  edu_group STRING NOT NULL COMMENT 'low, medium, high',
  exp_year DOUBLE NOT NULL COMMENT 'years of work experience, whole months / 12',
  first_name STRING NOT NULL,
  surname STRING NOT NULL COMMENT 'as printed',
  first_name_gender STRING NOT NULL COMMENT 'male, female, neutral: share of births above population.first_names.gender_threshold',
  first_name_cohort STRING NOT NULL COMMENT 'young, mid, old, neutral',
  surname_race STRING NOT NULL COMMENT 'white, black, asian_pacific, neutral',
  first_name_p_female DOUBLE NOT NULL COMMENT 'share of births that are female, ungrouped feature',
  first_name_mean_year DOUBLE NOT NULL COMMENT 'mean birth year of the name''s bearers, ungrouped feature',
  surname_p_white DOUBLE COMMENT 'ungrouped feature; null = suppressed by the Bureau',
  surname_p_black DOUBLE,
  surname_p_asian_pacific DOUBLE,
  person_key STRING NOT NULL COMMENT 'surveyed person (SERIALNO|SPORDER) behind a surveyed or drawn applicant; balanced: the applicant_id. Folds hash it',
  survey_weight INT COMMENT 'PWGTP of that person; null where generated',
  design_weight DECIMAL(18,6) NOT NULL COMMENT 'P(gender, race, age | job) in the population over the same in the design',
  z_weight_gender DECIMAL(18,6) NOT NULL COMMENT 'P(race, age | job) in the population over the same in the design: weight of effects of gender',
  z_weight_race DECIMAL(18,6) NOT NULL COMMENT 'P(gender, age | job), likewise: weight of effects of race',
  mode STRING NOT NULL COMMENT 'balanced, draws, surveyed',
  acs_vintage INT NOT NULL
) USING delta CLUSTER BY (audit_id, job)
COMMENT 'Silver: applicants';
