-- Job postings as they came, one row per posting and source.
-- One row per: source_sha256, posting_id
CREATE TABLE IF NOT EXISTS job_posting (
  source_sha256 STRING NOT NULL COMMENT 'of the file, with the column map where one was given',
  posting_id STRING NOT NULL COMMENT 'first 128 bits of SHA-256 of everything that a posting tells, 32 hex digits',
  row_number INT NOT NULL COMMENT '0 = first posting of the source; of alike ones the first is kept',
  company STRING COMMENT 'null = the source does not tell it; so with all that follow',
  title STRING,
  metro STRING,
  state STRING COMMENT 'USPS code, two letters',
  posted STRING COMMENT 'date of the posting, YYYY-MM-DD',
  description STRING,
  industry STRING,
  job_type STRING,
  synthetic STRING COMMENT 'columns that a script made up, sorted, with commas: company,metro,posted,state; null = none'
) USING delta CLUSTER BY (source_sha256) COMMENT 'Bronze: job postings';
