-- Question: in how many industries does each model favor a label, fail four fifths, or move with information?
-- One row per: audit_id, model, attribute, contrast, information
-- Reads: estimates. Unit: industries; rank_gap in ranks (above 0 favors the other label), slope in ranks per unit of log words. information: all, or a level; the slope is of all.
-- Published tests are made pooled over levels only: null at a level.
-- Rows behind a number: estimates of slice industry=..., or industry=...; information=....
-- Source: JobFair's roll-up over models and industries. Significant: p at most 0.05 over the tests of the audit (Bonferroni; 100 tests and 0.0005 in the paper), in either direction.
WITH bound AS (
  SELECT audit_id, CAST(0.05 AS DOUBLE) / COUNT(*) AS threshold, COUNT(*) AS tests
  FROM estimates
  WHERE design = 'ranking' AND family IS NOT NULL
  GROUP BY audit_id
),
placed AS (
  SELECT
    e.*,
    b.threshold,
    b.tests,
    CASE
      WHEN e.slice = 'all' OR e.slice RLIKE '^industry=[^;]*$' THEN 'all'
      ELSE REGEXP_EXTRACT(e.slice, 'information=([0-9.eE+-]+)$', 1)
    END AS information,
    e.slice LIKE 'industry=%' AS of_industry,
    e.method IN ('sign_flip_exact', 'sign_flip_monte_carlo') AS flipped
  FROM estimates AS e
  LEFT JOIN bound AS b
    ON b.audit_id = e.audit_id
  WHERE e.design = 'ranking'
    AND (
      e.slice = 'all'
      OR e.slice RLIKE '^information=[0-9.eE+-]+$'
      OR e.slice RLIKE '^industry=[^;]*(; information=[0-9.eE+-]+)?$'
    )
)
SELECT
  audit_id,
  model,
  attribute,
  contrast,
  information,
  COUNT(DISTINCT CASE WHEN of_industry THEN slice END) AS industries,
  COUNT(CASE WHEN of_industry AND estimand = 'rank_gap' AND flipped AND p_value <= threshold
    THEN 1 END) AS level_significant,
  CASE WHEN information = 'all' THEN COUNT(CASE WHEN of_industry AND estimand = 'rank_gap'
    AND method = 'pooled_permutation_published' AND p_value <= threshold THEN 1 END)
    END AS level_significant_published,
  COUNT(CASE WHEN of_industry AND estimand = 'spread_ratio' AND method = 'paired_swap'
    AND p_value <= threshold THEN 1 END) AS spread_significant,
  CASE WHEN information = 'all' THEN COUNT(CASE WHEN of_industry AND estimand = 'spread_ratio'
    AND method = 'pooled_permutation_published' AND p_value <= threshold THEN 1 END)
    END AS spread_significant_published,
  COUNT(CASE WHEN of_industry AND estimand = 'impact_ratio' AND estimate < 0.8
    THEN 1 END) AS below_four_fifths,
  COUNT(CASE WHEN of_industry AND estimand = 'impact_ratio_uncapped' AND estimate > 1.25
    THEN 1 END) AS below_four_fifths_other,
  MAX(CASE WHEN NOT of_industry AND estimand = 'rank_gap' AND flipped THEN estimate END) AS rank_gap,
  MAX(CASE WHEN NOT of_industry AND estimand = 'rank_gap' AND flipped THEN p_value END)
    AS rank_gap_p_value,
  MAX(CASE WHEN slice = 'all' AND estimand = 'information_slope'
    AND method = 'fixed_effects_cluster' THEN estimate END) AS slope,
  MAX(CASE WHEN slice = 'all' AND estimand = 'information_slope'
    AND method = 'fixed_effects_cluster' THEN p_value END) AS slope_p_value,
  MAX(CASE WHEN slice = 'all' AND estimand = 'mean_fixed_effect'
    AND method = 'fixed_effects_cluster' THEN estimate END) AS mean_fixed_effect,
  COUNT(CASE WHEN status = 'not_computable' THEN 1 END) AS not_computable,
  MAX(tests) AS tests,
  MAX(threshold) AS threshold
FROM placed
GROUP BY audit_id, model, attribute, contrast, information
