-- Question: what stands behind a gap in ranks? The ten rank sets whose scores lie furthest apart, of the largest pooled gap.
-- One row per: audit_id, model, resume_id, information, version, replicate
-- Reads: estimates, scores, requests, replies, contents, rank_documents. Unit: points of score.
-- Rows behind a number: these are the last ones; `input_versions` gives the table versions for VERSION AS OF.
-- Source: change the first part (WHERE, ORDER BY) to walk back from another number.
WITH number AS (
  SELECT audit_id, model, contrast, slice, estimand, method, estimate, input_versions
  FROM estimates
  WHERE design = 'ranking' AND estimand = 'rank_gap' AND slice = 'all'
    AND method IN ('sign_flip_exact', 'sign_flip_monte_carlo') AND estimate IS NOT NULL
  ORDER BY ABS(estimate) DESC, audit_id, model, contrast
  LIMIT 1
),
answered AS (
  SELECT
    n.audit_id, n.model, n.contrast, n.estimate, n.input_versions, d.resume_id, d.industry, d.role,
    d.information, d.words, d.version, d.label, s.request_id, s.replicate, s.score, s.outcome,
    s.reply_wave
  FROM number AS n
  JOIN rank_documents AS d
    ON d.audit_id = n.audit_id AND d.kind IN ('label', 'none')
  JOIN scores AS s
    ON s.audit_id = d.audit_id AND s.document_id = d.document_id AND s.model = n.model
),
sets AS (
  SELECT
    resume_id,
    information,
    ROW_NUMBER() OVER (ORDER BY gap DESC, resume_id, information) AS position
  FROM (
    SELECT
      resume_id,
      information,
      MAX(score) - MIN(score) AS gap
    FROM (
      SELECT resume_id, information, version, AVG(score) AS score
      FROM answered
      WHERE label IS NOT NULL
      GROUP BY resume_id, information, version
    )
    GROUP BY resume_id, information
  )
  WHERE gap IS NOT NULL
)
SELECT
  a.audit_id,
  a.model,
  a.resume_id,
  a.information,
  a.version,
  a.replicate,
  t.position,
  a.estimate AS rank_gap,
  a.industry,
  a.role,
  a.label,
  a.words,
  a.score,
  a.outcome,
  p.reply AS raw_reply,
  p.model_version,
  p.asked_at,
  q.content_key AS resume_key,
  c.text AS resume,
  q.call_key,
  a.input_versions
FROM answered AS a
JOIN sets AS t
  ON t.resume_id = a.resume_id AND t.information = a.information
JOIN requests AS q
  ON q.audit_id = a.audit_id AND q.request_id = a.request_id
LEFT JOIN replies AS p
  ON p.call_key = q.call_key AND p.wave_id = a.reply_wave
LEFT JOIN contents AS c
  ON c.content_key = q.content_key
WHERE t.position <= 10
ORDER BY t.position, a.version, a.replicate;
