-- What each name of a paired-callback audit tells, held against the SSA's births and the Census.
-- One row per: audit_id, kind, race, gender, name
CREATE TABLE IF NOT EXISTS name_signals (
  audit_id STRING NOT NULL,
  kind STRING NOT NULL COMMENT 'first, surname',
  race STRING NOT NULL COMMENT 'that the name stands for; none for first names of the SSA, which serve every race',
  gender STRING NOT NULL COMMENT 'that the name stands for; none for surnames',
  name STRING NOT NULL,
  source STRING COMMENT 'the study or list; SSA, Census for names of the population',
  signal STRING NOT NULL COMMENT 'gender: share of births; race: share of bearers',
  share DOUBLE COMMENT 'of the bearers that are of the group it stands for; null = not known, see reason',
  share_low DOUBLE COMMENT 'least that share can be, with what privacy keeps from the file; null = nothing is known',
  share_high DOUBLE COMMENT 'most that share can be',
  bearers BIGINT COMMENT 'births, or bearers, behind share',
  weak BOOLEAN COMMENT 'share below names.weak_below; null = not known',
  used BOOLEAN NOT NULL COMMENT 'whether profiles may bear it',
  mother_education DOUBLE,
  cohort DOUBLE,
  reason STRING COMMENT 'why share is null, or why it is not used'
) USING delta CLUSTER BY (audit_id) COMMENT 'Silver: names of paired-callback audits';
ALTER TABLE name_signals ADD CONSTRAINT name_kind CHECK (kind IN ('first', 'surname'));
