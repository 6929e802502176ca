-- Question: which versions of the resumes were asked about, who got a score, and how high is it?
-- One row per: audit_id, model, industry, version
-- Reads: scores, rank_documents. Unit: requests; mean_score in points, over requests with a score.
-- Rows behind a number: scores, requests, replies. Source: outcomes of a request, none left out; kinds placebo and repeat are controls.
SELECT
  s.audit_id,
  s.model,
  d.industry,
  d.kind,
  d.version,
  COUNT(*) AS asked,
  SUM(CASE WHEN s.outcome = 'ok' THEN 1 ELSE 0 END) AS ok,
  SUM(CASE WHEN s.outcome = 'refused' THEN 1 ELSE 0 END) AS refused,
  SUM(CASE WHEN s.outcome = 'unparseable' THEN 1 ELSE 0 END) AS unparseable,
  SUM(CASE WHEN s.outcome = 'failed' THEN 1 ELSE 0 END) AS failed,
  CAST(AVG(s.score) AS DOUBLE) AS mean_score
FROM scores AS s
JOIN rank_documents AS d
  ON d.audit_id = s.audit_id AND d.document_id = s.document_id
GROUP BY s.audit_id, s.model, d.industry, d.kind, d.version
