-- What screeners are shown, by design coordinates; the content is stored once, by content_key.
-- One row per: audit_id, document_id
CREATE TABLE IF NOT EXISTS documents (
  audit_id STRING NOT NULL,
  document_id STRING NOT NULL COMMENT 'applicant_id/format, then contrast and version; ranking: see rank_documents',
  applicant_id STRING NOT NULL COMMENT 'ranking: the resume',
  job STRING NOT NULL COMMENT 'ranking: the industry',
  document_format STRING NOT NULL COMMENT 'text',
  content_key STRING NOT NULL COMMENT 'first 128 bits of SHA-256 of the bytes shown, 32 hex digits',
  contrast STRING COMMENT 'of a version for counterfactual rescoring; null = own document, or a placebo',
  version STRING COMMENT 'see versions, or rank_documents; null = the applicant''s own document'
) USING delta CLUSTER BY (audit_id, job) COMMENT 'Silver: documents';
