-- Question: where does an impact ratio of a ranking audit fall below four fifths, and against whom?
-- One row per: audit_id, model, contrast, slice
-- Reads: estimates. Unit: ratio of shares ranked at least as well. n: rank sets with both labels ranked.
-- Rows behind a number: rank sets of the slice, question ranking_walk_back.
-- Source: JobFair, impact ratio; 29 CFR 1607.4(D). Near 0.8 read the interval: low and high end are of the same ratio.
SELECT
  audit_id,
  model,
  contrast,
  slice,
  CASE WHEN estimate < 1 THEN 'favored' ELSE 'other' END AS ranked_worse,
  LEAST(estimate, 1 / estimate) AS impact_ratio,
  CASE WHEN estimate < 1 THEN ci_low ELSE 1 / ci_high END AS low,
  CASE WHEN estimate < 1 THEN ci_high ELSE 1 / ci_low END AS high,
  n
FROM estimates
WHERE design = 'ranking' AND estimand = 'impact_ratio_uncapped'
  AND method = 'ranks_at_least_tied' AND estimate > 0
  AND (estimate < 0.8 OR estimate > 1.25)
ORDER BY audit_id, model, contrast, impact_ratio, slice;
