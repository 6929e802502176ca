-- Question: what stands behind a number? The ten highest-scored resumes of the largest total effect.
-- One row per: audit_id, model, document_format, job, position
-- Reads: estimates, scores, requests, replies, contents, applicants. Unit: points of score.
-- Rows behind a number: these are the last ones; `input_versions` gives the table versions for VERSION AS OF.
-- Source: change the first part (WHERE, ORDER BY) to walk back from another number.
WITH number AS (
  SELECT
    audit_id, model, attribute, contrast, document_format, slice, estimand, method,
    estimate, input_versions, SUBSTRING(slice, 5) AS job
  FROM estimates
  WHERE design = 'path_specific' AND method IN ('eif', 'rescoring') AND estimand = 'TE'
    AND slice LIKE 'job=%' AND estimate IS NOT NULL
  ORDER BY ABS(estimate) DESC, audit_id, model, contrast, document_format, slice, method
  LIMIT 1
),
ranked AS (
  SELECT
    n.*,
    s.request_id,
    s.applicant_id,
    s.parser,
    s.score,
    s.reply_wave,
    ROW_NUMBER() OVER (ORDER BY s.score DESC, s.request_id) AS position
  FROM number AS n
  JOIN scores AS s
    ON s.audit_id = n.audit_id AND s.model = n.model
      AND s.document_format = n.document_format AND s.job = n.job
  WHERE s.outcome = 'ok' AND s.version IS NULL
)
SELECT
  r.audit_id,
  r.model,
  r.document_format,
  r.job,
  r.position,
  r.attribute,
  r.contrast,
  r.estimand,
  r.method,
  r.estimate,
  r.applicant_id,
  a.gender,
  a.race,
  a.age,
  r.score,
  p.reply AS raw_reply,
  r.parser,
  p.model_version,
  p.asked_at,
  q.content_key AS resume_key,
  COALESCE(c.text, CONCAT(c.media_type, ', ', OCTET_LENGTH(c.data), ' bytes')) AS resume,
  q.prompt_key,
  d.text AS job_description,
  q.call_key,
  r.input_versions
FROM ranked AS r
JOIN requests AS q
  ON q.audit_id = r.audit_id AND q.request_id = r.request_id
JOIN applicants AS a
  ON a.audit_id = r.audit_id AND a.applicant_id = r.applicant_id
LEFT JOIN replies AS p
  ON p.call_key = q.call_key AND p.wave_id = r.reply_wave
LEFT JOIN contents AS c
  ON c.content_key = q.content_key
LEFT JOIN contents AS d
  ON d.content_key = q.prompt_key
WHERE r.position <= 10
ORDER BY r.position;
