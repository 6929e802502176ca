-- Question: how far can the estimates of a case be trusted, in short?
-- One row per: audit_id, model, contrast, document_format, slice
-- Reads: diagnostics, estimates. Unit: standardised differences; standard errors of the effect; shares of a loss.
-- Rows behind a number: diagnostics. Source: out-of-fold losses, weights as clipped; null = nothing computable.
WITH split AS (
  SELECT
    *,
    CASE WHEN kind = 'clip' THEN SPLIT_PART(name, '@', 1) ELSE name END AS estimand
  FROM diagnostics
),
beside AS (
  SELECT
    d.*,
    CASE
      WHEN d.kind = 'clip' THEN ABS(d.value - e.estimate) / e.std_error
      WHEN d.kind = 'split_sd' THEN d.value / e.std_error
    END AS in_errors
  FROM split AS d
  LEFT JOIN estimates AS e
    ON e.design = 'path_specific' AND e.method = 'eif' AND e.estimand = d.estimand
    AND e.audit_id = d.audit_id AND e.model = d.model AND e.contrast = d.contrast
    AND e.document_format = d.document_format AND e.slice = d.slice
)
SELECT
  audit_id,
  model,
  contrast,
  document_format,
  slice,
  MAX(CASE WHEN kind = 'balance' THEN value END) AS largest_imbalance,
  MAX_BY(name, CASE WHEN kind = 'balance' THEN STRUCT(value, name) END) AS largest_imbalance_at,
  COUNT_IF(kind = 'balance' AND value > 0.1) AS imbalances_above_0_1,
  MAX(CASE WHEN kind = 'clip' THEN in_errors END) AS clip_moves_errors,
  MAX_BY(name, CASE WHEN kind = 'clip' AND in_errors IS NOT NULL THEN STRUCT(in_errors, name) END) AS clip_moves_at,
  MAX(CASE WHEN kind = 'split_sd' THEN in_errors END) AS split_sd_errors,
  MIN(CASE WHEN kind = 'skill' THEN value END) AS least_skill,
  MIN_BY(name, CASE WHEN kind = 'skill' AND value IS NOT NULL THEN STRUCT(value, name) END) AS least_skill_of
FROM beside
GROUP BY audit_id, model, contrast, document_format, slice
