-- Rendered contents: what a screener was shown.
-- One row per: content_key
CREATE TABLE IF NOT EXISTS contents (
  content_key STRING NOT NULL COMMENT 'first 128 bits of SHA-256 of the bytes shown, 32 hex digits',
  media_type STRING NOT NULL COMMENT 'text/plain; charset=utf-8, image/png, image/jpeg, image/gif or image/webp',
  text STRING COMMENT 'null where the content is an image',
  data BINARY COMMENT 'bytes of an image, null where the content is text'
) USING delta CLUSTER BY (content_key) COMMENT 'Silver: contents of documents and job descriptions';
ALTER TABLE contents ADD CONSTRAINT text_or_image CHECK ((text IS NULL) <> (data IS NULL));
