-- Question: in which jobs does a redlining effect survive the Holm correction, and whom does it favor?
-- One row per: audit_id, model, attribute, contrast, document_format, slice, method
-- Reads: estimates, effects_wide. Unit: points of score. Level: p_holm below 0.05 within `family`.
-- Rows behind a number: walk_back. Source: PopResume, RIE (through names and region, and what follows from them).
SELECT
  e.audit_id,
  e.model,
  e.attribute,
  e.contrast,
  e.document_format,
  e.slice,
  e.method,
  e.estimate AS rie,
  e.ci_low,
  e.ci_high,
  e.p_holm,
  e.family,
  w.te,
  w.bie,
  e.favors_when_positive,
  e.n,
  e.status,
  e.reason
FROM estimates AS e
JOIN effects_wide AS w
  USING (audit_id, model, attribute, contrast, document_format, slice, method)
WHERE e.design = 'path_specific'
  AND e.estimand = 'RIE'
  AND e.status <> 'not_computable'
  AND e.p_holm < 0.05
ORDER BY e.p_holm, e.audit_id, e.model, e.contrast, e.slice;
