-- Question: how often is each arm called, how far apart are they, and what do placebo pairs do?
-- One row per: audit_id, model, contrast, slice
-- Reads: estimates. Unit: rates are shares, gaps percentage points (above 0 favors the favored arm); n: complete pairs.
-- low, high, p_value: postings and names are a sample; sign_flip_p_value: for these names. Placebo columns are pooled: null in slices.
-- Rows behind a number: estimates of the slice, question callbacks_walk_back.
-- Source: gap by cluster_posting_names; placebo pairs are two names of one race and gender.
WITH gap AS (
  SELECT *
  FROM estimates
  WHERE design = 'paired_callback' AND estimand = 'callback_gap_pp'
    AND method = 'cluster_posting_names' AND model <> 'panel'
),
rate AS (
  SELECT
    audit_id,
    model,
    contrast,
    slice,
    estimate,
    slice LIKE CONCAT(SPLIT(attribute, '[+]')[0], '=%') AS pooled
  FROM estimates
  WHERE design = 'paired_callback' AND estimand = 'callback_rate' AND method = 'cluster_posting'
),
-- The favored arm is the one with the higher rate where the gap is above 0.
both_rates AS (
  SELECT
    g.audit_id,
    g.model,
    g.contrast,
    g.slice,
    MAX(r.estimate) AS higher,
    MIN(r.estimate) AS lower
  FROM gap AS g
  JOIN rate AS a
    ON a.audit_id = g.audit_id AND a.model = g.model AND a.contrast = g.contrast AND a.pooled
  JOIN rate AS r
    ON r.audit_id = g.audit_id AND r.model = g.model AND r.contrast = g.contrast
    AND r.slice = CASE WHEN g.slice = 'all' THEN a.slice ELSE CONCAT(g.slice, '; ', a.slice) END
  GROUP BY g.audit_id, g.model, g.contrast, g.slice
),
flip AS (
  SELECT audit_id, model, contrast, slice, p_value, p_holm
  FROM estimates
  WHERE design = 'paired_callback' AND estimand = 'callback_gap_pp'
    AND method LIKE 'sign_flip_posting%'
),
control AS (
  SELECT
    audit_id,
    model,
    MAX(estimate) AS gap_pp,
    MAX(p_value) AS p_value
  FROM estimates
  WHERE design = 'placebo' AND contrast = 'placebo' AND slice = 'control=placebo'
    AND estimand = 'callback_gap_pp' AND method = 'cluster_posting_names'
  GROUP BY audit_id, model
),
discordant AS (
  SELECT
    audit_id,
    model,
    contrast,
    MAX(CASE WHEN slice = 'control=placebo; pairs=real' THEN estimate END) AS of_real,
    MAX(CASE WHEN slice = 'control=placebo; pairs=placebo' THEN estimate END) AS of_placebo
  FROM estimates
  WHERE design = 'placebo' AND estimand = 'discordant_share'
  GROUP BY audit_id, model, contrast
)
SELECT
  g.audit_id,
  g.model,
  g.contrast,
  g.slice,
  g.attribute,
  g.favors_when_positive AS favored,
  CASE WHEN g.estimate >= 0 THEN r.higher ELSE r.lower END AS rate_favored,
  CASE WHEN g.estimate >= 0 THEN r.lower ELSE r.higher END AS rate_other,
  g.estimate AS gap_pp,
  g.ci_low AS low,
  g.ci_high AS high,
  g.p_value,
  f.p_value AS sign_flip_p_value,
  f.p_holm AS sign_flip_p_holm,
  g.n,
  g.status,
  g.reason,
  CASE WHEN g.slice = 'all' THEN c.gap_pp END AS placebo_gap_pp,
  CASE WHEN g.slice = 'all' THEN c.p_value END AS placebo_p_value,
  CASE WHEN g.slice = 'all' THEN d.of_real END AS discordant_share,
  CASE WHEN g.slice = 'all' THEN d.of_placebo END AS placebo_discordant_share
FROM gap AS g
LEFT JOIN both_rates AS r
  ON r.audit_id = g.audit_id AND r.model = g.model AND r.contrast = g.contrast
  AND r.slice = g.slice AND g.estimate IS NOT NULL
LEFT JOIN flip AS f
  ON f.audit_id = g.audit_id AND f.model = g.model AND f.contrast = g.contrast
  AND f.slice = g.slice
LEFT JOIN control AS c
  ON c.audit_id = g.audit_id AND c.model = g.model
LEFT JOIN discordant AS d
  ON d.audit_id = g.audit_id AND d.model = g.model AND d.contrast = g.contrast
