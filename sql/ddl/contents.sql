-- Rendered contents: what a screener was shown.
-- One row per: content_key
CREATE TABLE IF NOT EXISTS contents (
  content_key STRING NOT NULL COMMENT 'first 128 bits of SHA-256 of the bytes shown, 32 hex digits',
  media_type STRING NOT NULL COMMENT 'text/plain; charset=utf-8',
  text STRING NOT NULL
) USING delta CLUSTER BY (content_key) COMMENT 'Silver: contents of documents and job descriptions';
