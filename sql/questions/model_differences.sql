-- Question: whose effects differ, a from b, on the same applicants, and by how much?
-- One row per: audit_id, model, attribute, contrast, document_format, slice, estimand
-- Reads: estimates. Unit: points of score, effect under a minus effect under b. Level: 0.05, p_holm within `family`.
-- Rows behind a number: the rows of a and of b by the same method. Source: covariance of influence over the applicants both answered.
-- `negligible` is shown by two one-sided tests within the margin of the audit, uncorrected; `undecided`: neither is shown.
WITH sides AS (
  SELECT
    *,
    SPLIT_PART(model, ' minus ', 1) AS model_a,
    COALESCE(NULLIF(SPLIT_PART(model, ' minus ', 2), ''), model) AS model_b,
    SPLIT_PART(document_format, ' minus ', 1) AS format_a,
    COALESCE(NULLIF(SPLIT_PART(document_format, ' minus ', 2), ''), document_format) AS format_b
  FROM estimates
  WHERE design = 'comparison' AND method <> 'tost_difference'
),
single AS (
  SELECT audit_id, model, contrast, document_format, slice, estimand, method, estimate
  FROM estimates
  WHERE design = 'path_specific'
),
equivalence AS (
  SELECT audit_id, model, contrast, document_format, slice, estimand, p_value
  FROM estimates
  WHERE design = 'comparison' AND method = 'tost_difference'
)
SELECT
  d.audit_id,
  d.model,
  d.attribute,
  d.contrast,
  d.document_format,
  d.slice,
  d.estimand,
  d.model_a,
  d.model_b,
  d.format_a,
  d.format_b,
  a.estimate AS effect_a,
  b.estimate AS effect_b,
  d.estimate AS difference,
  d.std_error,
  d.ci_low,
  d.ci_high,
  d.p_value,
  d.family,
  d.p_holm,
  q.p_value AS p_negligible,
  CASE
    WHEN d.status = 'not_computable' THEN 'not_computable'
    WHEN d.p_holm < 0.05 THEN 'differ'
    WHEN q.p_value < 0.05 THEN 'negligible'
    ELSE 'undecided'
  END AS verdict,
  d.favors_when_positive,
  d.n,
  d.reason
FROM sides AS d
LEFT JOIN single AS a
  ON a.audit_id = d.audit_id AND a.model = d.model_a AND a.document_format = d.format_a
  AND a.contrast = d.contrast AND a.slice = d.slice AND a.estimand = d.estimand
  AND CONCAT(a.method, '_difference') = d.method
LEFT JOIN single AS b
  ON b.audit_id = d.audit_id AND b.model = d.model_b AND b.document_format = d.format_b
  AND b.contrast = d.contrast AND b.slice = d.slice AND b.estimand = d.estimand
  AND CONCAT(b.method, '_difference') = d.method
LEFT JOIN equivalence AS q
  ON q.audit_id = d.audit_id AND q.model = d.model AND q.document_format = d.document_format
  AND q.contrast = d.contrast AND q.slice = d.slice AND q.estimand = d.estimand
ORDER BY d.p_holm NULLS LAST, d.audit_id, d.model, d.contrast, d.slice, d.estimand;
