-- Propensities known from the generator (balanced mode), at the resolution of estimation.
-- One row per: audit_id, contrast, applicant_id
CREATE TABLE IF NOT EXISTS known_propensity (
  audit_id STRING NOT NULL,
  contrast STRING NOT NULL,
  applicant_id STRING NOT NULL,
  p_z DOUBLE NOT NULL COMMENT 'P(x1 | Z) of the design',
  p_rz DOUBLE NOT NULL COMMENT 'P(x1 | R, Z)',
  p_brz DOUBLE NOT NULL COMMENT 'P(x1 | B, R, Z)'
) USING delta COMMENT 'Silver: propensities that follow from the generator by Bayes';
