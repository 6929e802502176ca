-- Question: who was asked about as he is, who got a score, and how high is it in each group?
-- One row per: audit_id, model, document_format, job, gender, race
-- Reads: scores, applicants. Unit: requests; mean_score in points, over requests with a score.
-- Rows behind a number: scores, requests, replies. Source: outcomes of own documents, none left out; version_outcomes has the versions.
SELECT
  s.audit_id,
  s.model,
  s.document_format,
  s.job,
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
WHERE s.version IS NULL
GROUP BY s.audit_id, s.model, s.document_format, s.job, a.gender, a.race
