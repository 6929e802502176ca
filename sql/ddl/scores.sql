-- Parsed replies: one row per request, whatever its outcome.
-- One row per: audit_id, request_id
CREATE TABLE IF NOT EXISTS scores (
  audit_id STRING NOT NULL,
  request_id STRING NOT NULL,
  document_id STRING NOT NULL,
  applicant_id STRING NOT NULL,
  job STRING NOT NULL,
  document_format STRING NOT NULL,
  model STRING NOT NULL,
  replicate INT NOT NULL,
  call_key STRING NOT NULL,
  parser STRING NOT NULL COMMENT 'name and version of the parser',
  outcome STRING NOT NULL COMMENT 'ok, refused, unparseable, failed',
  reason STRING COMMENT 'why there is no score',
  score DECIMAL(9,4) COMMENT 'in the units of the parser (scoring/parse.py): 0 to 100, 0 to 10, or 1 = yes and 0 = no; null unless outcome is ok',
  reply_wave STRING COMMENT 'wave of the reply that was read: with call_key its row in replies; null = there is none',
  contrast STRING COMMENT 'as in documents',
  version STRING COMMENT 'as in documents: null = the applicant''s own document; whoever counts applicants keeps to these'
) USING delta CLUSTER BY (audit_id, model, job) COMMENT 'Gold: scores';
ALTER TABLE scores ADD CONSTRAINT score_iff_ok CHECK ((outcome = 'ok') = (score IS NOT NULL));
ALTER TABLE scores ADD CONSTRAINT outcome_known CHECK (outcome IN ('ok', 'refused', 'unparseable', 'failed'));
ALTER TABLE scores ADD CONSTRAINT score_in_range CHECK (score IS NULL OR (score >= 0 AND score <= 100));
