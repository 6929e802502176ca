-- Question: in how many cases does each pattern hold, as PopResume counts it (49 of 80)?
-- One row per: audit_id, rule, pattern
-- Reads: patterns. Unit: cases, one per model, contrast, document format and job; pooled slices are not counted.
-- Rows behind a number: patterns. Source: PopResume, section 4; pattern 1 is counted over formats without a photo.
SELECT
  audit_id,
  rule,
  pattern,
  MAX(title) AS title,
  COUNT_IF(verdict = 'yes') AS yes,
  COUNT(*) AS cases,
  COUNT_IF(verdict = 'no') AS no,
  COUNT_IF(verdict = 'undecided') AS undecided,
  COUNT_IF(verdict = 'not_computable') AS not_computable,
  CONCAT(COUNT_IF(verdict = 'yes'), ' of ', COUNT(*)) AS counted
FROM patterns
WHERE slice <> 'all' AND COALESCE(reason, '') NOT LIKE 'format_shows_photo%'
GROUP BY audit_id, rule, pattern
