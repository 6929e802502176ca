-- Classifiers P(X|.) of the path-specific effects, out of fold: fitted once per contrast and slice, shared by all models and formats.
-- One row per: audit_id, resolution, contrast, slice, cell
CREATE TABLE IF NOT EXISTS propensity (
  audit_id STRING NOT NULL,
  resolution STRING NOT NULL COMMENT 'grouped or ungrouped mediators: which cells these are',
  contrast STRING NOT NULL,
  slice STRING NOT NULL COMMENT 'job=KEY, or all',
  cell BIGINT NOT NULL COMMENT 'hash of the key of the cell (X, Z, R, B, folds, weight), as in its scores'' cells',
  q ARRAY<DOUBLE> NOT NULL COMMENT 'P(X in {x1, x0} | Z), by repeat of cross-fitting, fitted on the other folds',
  e_z ARRAY<DOUBLE> NOT NULL COMMENT 'P(x1 | Z, X in {x1, x0}), likewise',
  e_rz ARRAY<DOUBLE> NOT NULL COMMENT 'P(x1 | R, Z, X in {x1, x0})',
  e_brz ARRAY<DOUBLE> NOT NULL COMMENT 'P(x1 | B, R, Z, X in {x1, x0})',
  quality STRING COMMENT 'JSON, on one cell of each contrast and slice: by repeat, what was fitted, its loss out of fold (Brier), that of the mean, the learners'' weights'
) USING delta CLUSTER BY (audit_id, contrast) COMMENT 'Silver: classifiers P(X|.) that all scores of the same applicants share';
