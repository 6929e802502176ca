-- Question: what stands behind a callback gap? Ten discordant pairs of the largest pooled gap, from the side that it favors.
-- One row per: audit_id, model, contrast, posting_id, pair_id, within, replicate, side
-- Reads: estimates, scores, replies, contents, pair_documents. Unit: score 1 = yes, 0 = no.
-- Rows behind a number: these are the last ones; `input_versions` gives the table versions for VERSION AS OF.
-- Source: change the first part (WHERE, ORDER BY) to walk back from another number.
WITH number AS (
  SELECT audit_id, model, contrast, estimate, input_versions
  FROM estimates
  WHERE design = 'paired_callback' AND estimand = 'callback_gap_pp' AND slice = 'all'
    AND method = 'cluster_posting_names' AND estimate IS NOT NULL
  ORDER BY ABS(estimate) DESC, audit_id, model, contrast
  LIMIT 1
),
answered AS (
  SELECT
    n.audit_id, n.model, n.contrast, n.estimate, n.input_versions, d.posting_id, d.pair_id,
    d.within, d.side, d.race, d.gender, d.first_name, d.surname, d.company, d.prompt_key,
    d.content_key, s.request_id, s.replicate, s.call_key, s.score, s.outcome, s.reply_wave
  FROM number AS n
  JOIN pair_documents AS d
    ON d.audit_id = n.audit_id AND d.contrast = n.contrast
  JOIN scores AS s
    ON s.audit_id = d.audit_id AND s.document_id = d.document_id AND s.model = n.model
),
discordant AS (
  SELECT
    posting_id, pair_id, within, replicate,
    ROW_NUMBER() OVER (ORDER BY posting_id, pair_id, within, replicate) AS position
  FROM (
    SELECT
      posting_id, pair_id, within, replicate,
      MAX(estimate) AS estimate,
      MAX(CASE WHEN side = 'favored' THEN score END)
        - MAX(CASE WHEN side = 'other' THEN score END) AS apart
    FROM answered
    GROUP BY posting_id, pair_id, within, replicate
  )
  WHERE apart = SIGN(estimate) AND apart <> 0
)
SELECT
  a.audit_id,
  a.model,
  a.contrast,
  a.posting_id,
  a.pair_id,
  a.within,
  a.replicate,
  a.side,
  t.position,
  a.estimate AS gap_pp,
  a.race,
  a.gender,
  a.first_name,
  a.surname,
  a.company,
  a.score,
  a.outcome,
  p.reply AS raw_reply,
  p.model_version,
  p.asked_at,
  c.text AS profile,
  j.text AS posting,
  a.call_key,
  a.input_versions
FROM answered AS a
JOIN discordant AS t
  ON t.posting_id = a.posting_id AND t.pair_id = a.pair_id AND t.within = a.within
  AND t.replicate = a.replicate
LEFT JOIN replies AS p
  ON p.call_key = a.call_key AND p.wave_id = a.reply_wave
LEFT JOIN contents AS c
  ON c.content_key = a.content_key
LEFT JOIN contents AS j
  ON j.content_key = a.prompt_key
WHERE t.position <= 10
ORDER BY t.position, a.side;
