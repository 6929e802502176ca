-- Resumes of a corpus as they came, and the text that versions of them are made from.
-- One row per: source_sha256, resume_id
CREATE TABLE IF NOT EXISTS corpus_resume (
  source_sha256 STRING NOT NULL COMMENT 'of the table, or of a folder''s listing with its files'' SHA-256; with what options said, where they said something',
  resume_id STRING NOT NULL COMMENT 'first 128 bits of SHA-256 of industry, role and text, 32 hex digits',
  row_number INT NOT NULL COMMENT '0 = first resume of the source; of alike ones the first is kept',
  member STRING COMMENT 'file inside the folder; null = the source is a table',
  occupation STRING NOT NULL COMMENT 'industry',
  role STRING NOT NULL COMMENT 'the job applied for',
  resume STRING NOT NULL COMMENT 'as the source has it',
  cleaned_resume STRING COMMENT 'as the source has it: without the leading role words; null = it has none',
  resume_len INT COMMENT 'the source''s own count; null = it has none. Never used as information',
  resume_words INT NOT NULL COMMENT 'of resume, counted',
  cleaned_is_resume_without_role BOOLEAN COMMENT 'whether nothing but the leading role words is gone; null = no cleaned_resume',
  text STRING NOT NULL COMMENT 'cleaned_resume, or resume without its role, put into sound Unicode; nothing else is changed',
  text_words INT NOT NULL COMMENT 'of text, counted',
  repairs INT NOT NULL COMMENT 'places of text that had been read in a wrong encoding'
) USING delta CLUSTER BY (source_sha256, occupation) COMMENT 'Bronze: resumes for ranking after scoring';
ALTER TABLE corpus_resume ADD CONSTRAINT some_text CHECK (text_words > 0);
