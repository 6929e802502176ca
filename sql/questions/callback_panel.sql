-- Question: how did the callback gap move from the oldest model to the newest, and is there a trend?
-- One row per: audit_id, model, contrast
-- Reads: estimates, diagnostics. Unit: percentage points, above 0 favors the favored arm; released in years (2024.5 is July 2024), null = not known.
-- One trend stands beside every model of its contrast: REML, Knapp-Hartung; trend_without is the slope without this model.
-- Rows behind a number: estimates of model panel, question callbacks_walk_back.
-- Source: Gao, Jiang & Yan, the panel of models. One old model can be all of a trend: read trend_without.
WITH released AS (
  SELECT
    audit_id,
    model,
    MAX(CASE WHEN name = 'released' THEN value END) AS released,
    MAX(CASE WHEN name LIKE 'family=%' THEN SUBSTRING(name, 8) END) AS family
  FROM diagnostics
  WHERE kind = 'panel'
  GROUP BY audit_id, model
),
trend AS (
  SELECT *
  FROM estimates
  WHERE design = 'paired_callback' AND model = 'panel' AND estimand = 'gap_trend_pp_per_year'
    AND method = 'reml_knapp_hartung'
)
SELECT
  e.audit_id,
  e.model,
  e.contrast,
  e.attribute,
  r.released,
  r.family,
  e.estimate AS gap_pp,
  e.ci_low AS low,
  e.ci_high AS high,
  e.p_value,
  e.p_holm,
  e.n,
  t.estimate AS trend_pp_per_year,
  t.ci_low AS trend_low,
  t.ci_high AS trend_high,
  w.estimate AS trend_without,
  COALESCE(e.reason, t.reason) AS reason
FROM estimates AS e
LEFT JOIN released AS r
  ON r.audit_id = e.audit_id AND r.model = e.model
LEFT JOIN trend AS t
  ON t.audit_id = e.audit_id AND t.contrast = e.contrast AND t.slice = 'all'
LEFT JOIN trend AS w
  ON w.audit_id = e.audit_id AND w.contrast = e.contrast
  AND w.slice = CONCAT('without_model=', e.model)
WHERE e.design = 'paired_callback' AND e.model <> 'panel' AND e.slice = 'all'
  AND e.estimand = 'callback_gap_pp' AND e.method = 'cluster_posting_names'
ORDER BY e.audit_id, e.contrast, r.released, e.model;
