-- Question: how does each total effect split into its paths?
-- One row per: audit_id, model, attribute, contrast, document_format, slice, method
-- Reads: estimates. Unit: points of score. Null = not computable, see the reason.
-- Rows behind a number: estimates. Source: PopResume, five path-specific effects; NIE = BIE + RIE.
SELECT
  audit_id,
  model,
  attribute,
  contrast,
  document_format,
  slice,
  method,
  MAX(CASE WHEN estimand = 'TE' THEN estimate END) AS te,
  MAX(CASE WHEN estimand = 'TE' THEN std_error END) AS te_std_error,
  MAX(CASE WHEN estimand = 'NDE' THEN estimate END) AS nde,
  MAX(CASE WHEN estimand = 'NDE' THEN std_error END) AS nde_std_error,
  MAX(CASE WHEN estimand = 'NIE' THEN estimate END) AS nie,
  MAX(CASE WHEN estimand = 'NIE' THEN std_error END) AS nie_std_error,
  MAX(CASE WHEN estimand = 'BIE' THEN estimate END) AS bie,
  MAX(CASE WHEN estimand = 'BIE' THEN std_error END) AS bie_std_error,
  MAX(CASE WHEN estimand = 'RIE' THEN estimate END) AS rie,
  MAX(CASE WHEN estimand = 'RIE' THEN std_error END) AS rie_std_error,
  MAX(favors_when_positive) AS favors_when_positive,
  MAX(n) AS n,
  SUM(CASE WHEN status = 'not_computable' THEN 1 ELSE 0 END) AS not_computable,
  ARRAY_JOIN(
    ARRAY_SORT(COLLECT_SET(CASE WHEN reason IS NOT NULL THEN CONCAT(estimand, ': ', reason) END)),
    '; '
  ) AS reasons
FROM estimates
WHERE design = 'path_specific' AND estimand <> 'agreement'
GROUP BY audit_id, model, attribute, contrast, document_format, slice, method
