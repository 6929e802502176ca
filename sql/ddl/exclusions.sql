-- Surveyed people of the audit's jobs who did not enter its population, by the first reason that applies.
-- One row per: audit_id, job, reason
CREATE TABLE IF NOT EXISTS exclusions (
  audit_id STRING NOT NULL,
  job STRING NOT NULL,
  reason STRING NOT NULL COMMENT 'not_employed, age, race, hispanic, below_high_school, state_outside, or included',
  people BIGINT NOT NULL COMMENT 'surveyed people',
  weighted BIGINT NOT NULL COMMENT 'sum of PWGTP'
) USING delta COMMENT 'Silver: who was left out, and why';
