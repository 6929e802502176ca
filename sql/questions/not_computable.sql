-- Question: which effects could not be computed or are flagged, why, and how thin is the overlap there?
-- One row per: audit_id, design, model, attribute, contrast, document_format, slice, estimand, method
-- Reads: estimates, overlap. Unit: applicants (n, effective n), shares of weight.
-- Rows behind a number: overlap, one row per set of weights. Source: the overlap rule of the audit's config.
WITH thinnest AS (
  SELECT
    audit_id,
    model,
    contrast,
    document_format,
    slice,
    MIN(effective_n) AS least_effective_n,
    MAX(max_unit_share) AS largest_unit_share,
    MAX(clipped_share) AS largest_clipped_share,
    ARRAY_JOIN(
      ARRAY_SORT(COLLECT_SET(CASE WHEN verdict <> 'ok' THEN CONCAT(weight_set, ': ', verdict) END)),
      '; '
    ) AS weights_that_fail
  FROM overlap
  GROUP BY audit_id, model, contrast, document_format, slice
)
SELECT
  e.audit_id,
  e.design,
  e.model,
  e.attribute,
  e.contrast,
  e.document_format,
  e.slice,
  e.estimand,
  e.method,
  e.status,
  e.reason,
  e.n,
  t.least_effective_n,
  t.largest_unit_share,
  t.largest_clipped_share,
  t.weights_that_fail
FROM estimates AS e
LEFT JOIN thinnest AS t
  USING (audit_id, model, contrast, document_format, slice)
WHERE e.status <> 'ok'
  AND (e.design <> 'path_specific' OR e.method IN ('eif', 'rescoring', 'observational_minus_rescoring', 'wald'))
ORDER BY e.status DESC, e.audit_id, e.model, e.contrast, e.slice, e.estimand, e.method;
