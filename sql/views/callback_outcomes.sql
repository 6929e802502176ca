-- Question: whose applications were asked about, who got a valid answer, and how often was it yes?
-- One row per: audit_id, model, contrast, kind, race, gender
-- Reads: scores, pair_documents. Unit: requests; callback_rate is a share of the requests with a valid answer.
-- Rows behind a number: scores, requests, replies. Source: outcomes of a request, none left out; kind placebo is the control.
SELECT
  s.audit_id,
  s.model,
  d.contrast,
  d.kind,
  d.race,
  d.gender,
  COUNT(*) AS asked,
  SUM(CASE WHEN s.outcome = 'ok' THEN 1 ELSE 0 END) AS ok,
  SUM(CASE WHEN s.outcome = 'refused' THEN 1 ELSE 0 END) AS refused,
  SUM(CASE WHEN s.outcome = 'unparseable' THEN 1 ELSE 0 END) AS unparseable,
  SUM(CASE WHEN s.outcome = 'failed' THEN 1 ELSE 0 END) AS failed,
  CAST(SUM(s.score) AS DOUBLE) / COUNT(s.score) AS callback_rate
FROM scores AS s
JOIN pair_documents AS d
  ON d.audit_id = s.audit_id AND d.document_id = s.document_id
GROUP BY s.audit_id, s.model, d.contrast, d.kind, d.race, d.gender
