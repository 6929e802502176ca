-- Question: which versions of the applicants were asked about for rescoring, who got a score, and how high is it?
-- One row per: audit_id, model, document_format, contrast, version, gender, race
-- Reads: scores, applicants. Unit: requests; mean_score in points, over requests with a score. Null contrast = a placebo.
-- Rows behind a number: scores, requests, versions. Source: outcomes of a request, none left out; gender and race are the applicants' own.
SELECT
  s.audit_id,
  s.model,
  s.document_format,
  s.contrast,
  s.version,
  a.gender,
  a.race,
  COUNT(*) AS asked,
  SUM(CASE WHEN s.outcome = 'ok' THEN 1 ELSE 0 END) AS ok,
  SUM(CASE WHEN s.outcome = 'refused' THEN 1 ELSE 0 END) AS refused,
  SUM(CASE WHEN s.outcome = 'unparseable' THEN 1 ELSE 0 END) AS unparseable,
  SUM(CASE WHEN s.outcome = 'failed' THEN 1 ELSE 0 END) AS failed,
  CAST(AVG(s.score) AS DOUBLE) AS mean_score
FROM scores AS s
JOIN applicants AS a
  ON a.audit_id = s.audit_id AND a.applicant_id = s.applicant_id
WHERE s.version IS NOT NULL
GROUP BY s.audit_id, s.model, s.document_format, s.contrast, s.version, a.gender, a.race
