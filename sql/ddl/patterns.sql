-- The five discrimination patterns of PopResume, as published and in adjusted, equivalence-based form.
-- One row per: audit_id, model, contrast, document_format, slice, pattern, rule
CREATE TABLE IF NOT EXISTS patterns (
  audit_id STRING NOT NULL,
  model STRING NOT NULL,
  contrast STRING NOT NULL,
  document_format STRING NOT NULL,
  slice STRING NOT NULL,
  pattern INT NOT NULL COMMENT '1 to 5',
  title STRING NOT NULL,
  rule STRING NOT NULL COMMENT 'published or adjusted',
  verdict STRING NOT NULL COMMENT 'yes, no, undecided, not_computable',
  p_value DOUBLE COMMENT 'adjusted rule: largest p of its parts',
  p_holm DOUBLE COMMENT 'p_value after Holm over the cases by job, or over the pooled ones; small = yes',
  p_refuted DOUBLE COMMENT 'adjusted rule: that one part is false, least p of their opposites times their number',
  p_refuted_holm DOUBLE COMMENT 'p_refuted after Holm over the cases; small = no',
  reason STRING
) USING delta COMMENT 'Gold: discrimination patterns';
