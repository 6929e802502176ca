-- Overlap diagnostics of the weights behind each functional, before clipping, and what clipping does.
-- One row per: audit_id, model, contrast, document_format, slice, weight_set, method
CREATE TABLE IF NOT EXISTS overlap (
  audit_id STRING NOT NULL,
  model STRING NOT NULL,
  contrast STRING NOT NULL,
  document_format STRING NOT NULL,
  slice STRING NOT NULL,
  weight_set STRING NOT NULL COMMENT 'functional and stage, for instance E_W:Y',
  n BIGINT NOT NULL COMMENT 'applicants with a weight above 0',
  mean_weight DOUBLE COMMENT 'unclipped; 1 when the propensities are right',
  effective_n DOUBLE COMMENT '(sum w)^2 / sum w^2, unclipped',
  max_weight DOUBLE COMMENT 'unclipped',
  max_unit_share DOUBLE COMMENT 'largest share of the total weight held by one applicant',
  clipped_share DOUBLE COMMENT 'share of applicants whose propensity the clip moves',
  verdict STRING NOT NULL COMMENT 'ok, or the rule that it breaks',
  method STRING COMMENT 'of the estimates that rest on these weights: eif, eif_ungrouped, eif_population; null = written before this column existed, eif'
) USING delta COMMENT 'Gold: overlap diagnostics';
