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
    COALESCE(method, 'eif') AS method,
    MIN(effective_n) AS least_effective_n,
    MAX(max_unit_share) AS largest_unit_share,
    MAX(clipped_share) AS largest_clipped_share,
    ARRAY_JOIN(
      ARRAY_SORT(COLLECT_SET(CASE WHEN verdict <> 'ok' THEN CONCAT(weight_set, ': ', verdict) END)),
      '; '
    ) AS weights_that_fail
  FROM overlap
  GROUP BY audit_id, model, contrast, document_format, slice, COALESCE(method, 'eif')
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
  ON t.audit_id = e.audit_id AND t.model = e.model AND t.contrast = e.contrast
  AND t.document_format = e.document_format AND t.slice = e.slice
  AND t.method = CASE
    WHEN e.method IN ('eif_ungrouped', 'ungrouped_minus_rescoring', 'wald_ungrouped') THEN 'eif_ungrouped'
    WHEN e.method IN ('eif_population', 'replicate_weights') THEN 'eif_population'
    ELSE 'eif'
  END
WHERE e.status <> 'ok'
  AND (
    e.design <> 'path_specific'
    OR e.method IN (
      'eif', 'rescoring', 'observational_minus_rescoring', 'wald', 'eif_ungrouped',
      'ungrouped_minus_rescoring', 'wald_ungrouped', 'eif_population', 'replicate_weights'
    )
  )
ORDER BY e.status DESC, e.audit_id, e.model, e.contrast, e.slice, e.estimand, e.method;
