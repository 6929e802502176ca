-- What an audit asks: one row per document, model and replicate, whatever comes of it.
-- One row per: audit_id, request_id
CREATE TABLE IF NOT EXISTS requests (
  audit_id STRING NOT NULL,
  request_id STRING NOT NULL COMMENT 'document_id@model#replicate',
  document_id STRING NOT NULL,
  applicant_id STRING NOT NULL,
  job STRING NOT NULL,
  model STRING NOT NULL COMMENT 'key of scoring.models',
  replicate INT NOT NULL COMMENT '1 = asked a second time (placebo_repeat)',
  content_key STRING NOT NULL COMMENT 'the resume',
  prompt_key STRING NOT NULL COMMENT 'content_key of the job description or prompt sent with it',
  call_key STRING NOT NULL COMMENT 'hash of the canonical JSON sent, the model and the replicate: key of replies',
  contrast STRING COMMENT 'as in documents',
  version STRING COMMENT 'as in documents: null = the applicant''s own document'
) USING delta CLUSTER BY (audit_id, model) COMMENT 'Gold: requests';
