-- What each estimate rests on, in long form; table overlap holds the weights themselves.
-- One row per: audit_id, model, contrast, document_format, slice, kind, name
CREATE TABLE IF NOT EXISTS diagnostics (
  audit_id STRING NOT NULL,
  model STRING NOT NULL,
  contrast STRING NOT NULL,
  document_format STRING NOT NULL,
  slice STRING NOT NULL,
  kind STRING NOT NULL COMMENT 'clip: effect at another clip, points; loss: out of fold, Brier or mean squared error; skill: 1 - loss / loss of the mean; stack_weight: share of a learner; balance: standardised difference left after weighting; split_sd: of an effect over repeats of cross-fitting, points; rank_sets: counts; pairs: counts of a paired-callback audit; panel: release date (years) and family of its models',
  name STRING NOT NULL COMMENT 'clip: RIE@0.01; loss, skill: the nuisance (mu3, e_brz, ...); stack_weight: mu3/glm; balance: weight set and column, E_W:Y/edu_group; split_sd: the effect; pairs: complete, lacks_favored, without_company, ...; panel: released, family=NAME',
  value DOUBLE COMMENT 'null = not computable, with the reason',
  reason STRING
) USING delta CLUSTER BY (audit_id, model) COMMENT 'Gold: diagnostics of estimates';
ALTER TABLE diagnostics ADD CONSTRAINT null_with_reason CHECK (value IS NOT NULL OR reason IS NOT NULL);
