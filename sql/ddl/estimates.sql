-- Every published number, one long table for all designs.
-- One row per: audit_id, design, model, attribute, contrast, document_format, slice, estimand, method
CREATE TABLE IF NOT EXISTS estimates (
  audit_id STRING NOT NULL,
  design STRING NOT NULL COMMENT 'path_specific; ranking; paired_callback; outcome: raw gaps, selection rates; placebo: controls of rescoring, of ranking and of callbacks; comparison: an effect of a minus that of b',
  model STRING NOT NULL COMMENT 'key of scoring.models; comparison of two models: `a minus b`; panel: all models of a paired-callback audit together',
  attribute STRING NOT NULL COMMENT 'gender or race, or what the labels of a ranking audit are of; none for a placebo of rescoring',
  contrast STRING NOT NULL COMMENT 'key of estimation.contrasts; ranking: favored_vs_other; placebo for a placebo of rescoring; callbacks: key of contrasts, placebo, `a and b` for a correlation of two gaps',
  document_format STRING NOT NULL COMMENT 'comparison of two formats: `a minus b`',
  slice STRING NOT NULL COMMENT 'job=KEY, or all when pooled; selection_rate names its group: job=KEY; gender=male; ranking: industry, information (percent), quality, cues; its controls: control=placebo_label, control=placebo_repeat; callbacks: gender=female, company, industry, state ..., arms and names behind them (race=white; name=Emily); control=placebo',
  estimand STRING NOT NULL COMMENT 'TE NDE NIE BIE RIE; raw_gap, selection_rate, share_tied, selection_rate_ratio; agreement; placebo_repeat, placebo_name; ranking: rank_gap, score_gap, spread_ratio, impact_ratio, information_slope, ... (README)',
  method STRING NOT NULL COMMENT 'eif, multiplier_bootstrap, rescoring (paired t), rescoring_sign_flip, observational_minus_rescoring, wald, eif_ungrouped, ungrouped_minus_rescoring, wald_ungrouped, eif_difference, rescoring_difference, eif_population, replicate_weights, ...',
  title STRING NOT NULL COMMENT 'what the estimand may be called; NDE without a photo is not called direct discrimination',
  estimate DOUBLE,
  std_error DOUBLE,
  ci_low DOUBLE,
  ci_high DOUBLE,
  p_value DOUBLE COMMENT 'two-sided',
  family STRING COMMENT 'family of the correction for multiple tests; null = outside every family',
  p_holm DOUBLE,
  p_bh DOUBLE,
  p_maxt DOUBLE,
  n BIGINT NOT NULL COMMENT 'applicants; ranking: rank sets; callbacks: pairs, of model panel: models',
  favors_when_positive STRING COMMENT 'whom a positive value favors',
  status STRING NOT NULL COMMENT 'ok, flagged, not_computable',
  reason STRING COMMENT 'why it is flagged or not computable; of an ok row: who did not answer',
  config_hash STRING NOT NULL,
  input_versions STRING NOT NULL COMMENT 'JSON: Delta version of every table read'
) USING delta CLUSTER BY (audit_id, model) COMMENT 'Gold: estimates';
ALTER TABLE estimates ADD CONSTRAINT status_known CHECK (status IN ('ok', 'flagged', 'not_computable'));
ALTER TABLE estimates ADD CONSTRAINT null_with_reason CHECK (status <> 'not_computable' OR (estimate IS NULL AND reason IS NOT NULL));
