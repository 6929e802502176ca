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
  score DECIMAL(9,4) COMMENT '0 to 100; null unless outcome is ok'
) USING delta CLUSTER BY (audit_id, model, job) COMMENT 'Gold: scores';
ALTER TABLE scores ADD CONSTRAINT score_iff_ok CHECK ((outcome = 'ok') = (score IS NOT NULL));
ALTER TABLE scores ADD CONSTRAINT outcome_known CHECK (outcome IN ('ok', 'refused', 'unparseable', 'failed'));
