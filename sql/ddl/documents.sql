-- What screeners are shown, by design coordinates; the content is stored once, by content_key.
-- One row per: audit_id, document_id
CREATE TABLE IF NOT EXISTS documents (
  audit_id STRING NOT NULL,
  document_id STRING NOT NULL COMMENT 'applicant_id/format, then contrast and version; else see rank_documents, pair_documents',
  applicant_id STRING NOT NULL COMMENT 'ranking: the resume; callbacks: posting_id/pair_id',
  job STRING NOT NULL COMMENT 'ranking: the industry; callbacks: that of the posting, or: not told',
  document_format STRING NOT NULL COMMENT 'text',
  content_key STRING NOT NULL COMMENT 'first 128 bits of SHA-256 of the bytes shown, 32 hex digits',
  contrast STRING COMMENT 'of a version for counterfactual rescoring; null = own document, or a placebo; callbacks: as in pair_documents',
  version STRING COMMENT 'see versions, or rank_documents; callbacks: the side; null = the applicant''s own document'
) USING delta CLUSTER BY (audit_id, job) COMMENT 'Silver: documents';
