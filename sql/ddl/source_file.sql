-- What was ingested: one row per zip member or file, by content.
-- One row per: kind, sha256
CREATE TABLE IF NOT EXISTS source_file (
  kind STRING NOT NULL COMMENT 'acs, psid, ssa (first names of any source), surnames, corpus, postings, correspondence_first, correspondence_surname (lists of names)',
  sha256 STRING NOT NULL COMMENT 'SHA-256 of the content: uncompressed member (ACS), whole file (others); of a folder of resumes its listing',
  file STRING NOT NULL COMMENT 'file name, without its folder',
  member STRING COMMENT 'member of the zip',
  vintage INT COMMENT 'survey year where it has one',
  period INT COMMENT 'ACS: years of data that the file pools; null = written before this column existed, or no ACS file',
  row_count BIGINT NOT NULL,
  has_replicate_weights BOOLEAN COMMENT 'ACS only',
  synthetic BOOLEAN NOT NULL COMMENT 'true: made by a script, no real records',
  ingested_at TIMESTAMP NOT NULL
) USING delta COMMENT 'Bronze: ledger of upstream files';
