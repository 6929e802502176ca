-- Names of correspondence studies, or of a list of the user's, with the group that they tell.
-- One row per: source_sha256, kind, row_number
CREATE TABLE IF NOT EXISTS correspondence_name (
  source_sha256 STRING NOT NULL COMMENT 'of the file',
  row_number INT NOT NULL COMMENT '0 = first row of the source',
  kind STRING NOT NULL COMMENT 'first, surname',
  source STRING COMMENT 'the study or list, as the file says',
  name STRING NOT NULL,
  race STRING NOT NULL COMMENT 'in lower case',
  gender STRING COMMENT 'female, male; null for surnames',
  mother_education DOUBLE COMMENT 'class signal, in the file''s own unit; null = not given',
  cohort DOUBLE COMMENT 'mean birth year of bearers; null = not given'
) USING delta CLUSTER BY (source_sha256) COMMENT 'Bronze: names of correspondence studies';
ALTER TABLE correspondence_name ADD CONSTRAINT name_kind CHECK (kind IN ('first', 'surname'));
