-- Question: who got no score as he is, and why, in each group?
-- One row per: audit_id, model, document_format, gender, race, outcome, reason
-- Reads: scores, applicants. Unit: requests; share is of all requests of the group.
-- Rows behind a number: scores, requests, replies. Source: outcomes of own documents, none left out.
SELECT
  audit_id,
  model,
  document_format,
  gender,
  race,
  outcome,
  reason,
  requests,
  requests / asked AS share
FROM (
  SELECT
    s.audit_id,
    s.model,
    s.document_format,
    a.gender,
    a.race,
    s.outcome,
    s.reason,
    COUNT(*) AS requests,
    SUM(COUNT(*)) OVER (
      PARTITION BY s.audit_id, s.model, s.document_format, a.gender, a.race
    ) AS asked
  FROM scores AS s
  JOIN applicants AS a
    ON a.audit_id = s.audit_id AND a.applicant_id = s.applicant_id
  WHERE s.version IS NULL
  GROUP BY s.audit_id, s.model, s.document_format, a.gender, a.race, s.outcome, s.reason
)
WHERE outcome <> 'ok'
