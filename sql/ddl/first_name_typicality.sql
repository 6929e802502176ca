-- First names that an audit can draw: births, shares with bounds, groups and their thresholds.
-- The SSA leaves out names with fewer than 5 births of a year and sex, so a share is among the
-- births in its file; p_female_low and p_female_high hold whatever number of births that hides.
-- One row per: audit_id, name
CREATE TABLE IF NOT EXISTS first_name_typicality (
  audit_id STRING NOT NULL,
  name STRING NOT NULL COMMENT 'as printed',
  births_female BIGINT NOT NULL COMMENT 'in the file, first_birth_year to last_birth_year',
  births_male BIGINT NOT NULL,
  hidden_female BIGINT NOT NULL COMMENT 'births at most that the file leaves out: 4 for each missing year (and state)',
  hidden_male BIGINT NOT NULL,
  p_female DOUBLE NOT NULL COMMENT 'births_female / (births_female + births_male)',
  p_female_low DOUBLE NOT NULL COMMENT 'with every hidden male birth and no hidden female one',
  p_female_high DOUBLE NOT NULL COMMENT 'the other way round',
  mean_birth_year DOUBLE COMMENT 'null = the list tells no birth years',
  cohort_shares STRING COMMENT 'JSON: cohort, share of the births within cohorts; null likewise',
  gender_group STRING NOT NULL COMMENT 'female, male, neutral: share above gender_threshold',
  cohort_group STRING NOT NULL COMMENT 'a cohort with a share above cohort_threshold, else neutral',
  gender_may_flip BOOLEAN NOT NULL COMMENT 'true: a share between low and high is of another group',
  cohort_may_flip BOOLEAN COMMENT 'likewise, by hidden births of single cohorts; null = the list tells no birth years',
  gender_threshold DOUBLE NOT NULL,
  cohort_threshold DOUBLE NOT NULL,
  cohorts STRING NOT NULL COMMENT 'JSON: cohort, first and last birth year',
  first_birth_year INT COMMENT 'of the births counted; null = the list tells no birth years',
  last_birth_year INT,
  source_kind STRING NOT NULL COMMENT 'ssa_national, ssa_by_state, own_list',
  source_sha256 STRING NOT NULL COMMENT 'see source_file'
) USING delta CLUSTER BY (audit_id) COMMENT 'Silver: typicality of first names';
