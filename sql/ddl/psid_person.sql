-- PSID reference persons and spouses, one row for each wave in which they report a main job.
-- Editions (extracts) side by side.
-- One row per: source_sha256, wave, person_1968, person_number
CREATE TABLE IF NOT EXISTS psid_person (
  wave INT NOT NULL COMMENT 'survey year',
  person_1968 INT NOT NULL COMMENT 'ER30001, 1968 interview number',
  person_number INT NOT NULL COMMENT 'ER30002',
  role STRING NOT NULL COMMENT 'reference or spouse',
  age INT COMMENT 'years; null = not ascertained',
  gender STRING COMMENT 'female or male',
  race_code INT COMMENT 'first mention: 1 White 2 Black 3 American Indian 4 Asian 5 Pacific Islander 7 other',
  hispanic BOOLEAN,
  education_years INT COMMENT '0 to 17',
  occp_2010 STRING COMMENT 'main job, 2010 Census code, four digits',
  state STRING COMMENT 'FIPS, two digits',
  years_worked INT COMMENT 'since age 18, up to date where the crosswalk says so; null = don''t know or not ascertained',
  years_full_time INT COMMENT 'since age 18, as answered',
  years_worked_asked INT COMMENT 'wave in which years worked was asked; null = the earliest wave of the extract or before',
  years_worked_answered INT COMMENT 'years worked as answered then, which the PSID repeats',
  tenure_years DOUBLE,
  weight DOUBLE COMMENT 'individual cross-sectional weight',
  synthetic BOOLEAN NOT NULL COMMENT 'true: made by a script, no real PSID record',
  source_sha256 STRING NOT NULL
) USING delta COMMENT 'Bronze: PSID persons';
