-- Profiles of a paired-callback audit: one arm of one pair each, identical within a pair but for the name.
-- One row per: audit_id, document_id
CREATE TABLE IF NOT EXISTS pair_documents (
  audit_id STRING NOT NULL,
  document_id STRING NOT NULL COMMENT 'posting_id/pair_id/contrast/within/side',
  posting_id STRING NOT NULL COMMENT 'as in job_posting; applicant_id of documents, requests and scores is posting_id/pair_id',
  pair_id INT NOT NULL COMMENT 'profile of the posting: 0, 1, ...; the same profile in every contrast',
  contrast STRING NOT NULL COMMENT 'key of contrasts; placebo',
  kind STRING NOT NULL COMMENT 'real; placebo: both names of one race and gender',
  within STRING NOT NULL COMMENT 'factors that both arms share, canonical: gender=female; race=white. A pair is posting_id, pair_id, contrast, within',
  side STRING NOT NULL COMMENT 'favored, other; of a placebo pair by draw',
  race STRING NOT NULL COMMENT 'that the name stands for',
  gender STRING NOT NULL COMMENT 'that the name stands for',
  first_name STRING NOT NULL COMMENT 'the cluster of the headline interval; with surname where names.surname_of is name',
  surname STRING NOT NULL,
  age INT NOT NULL,
  company STRING COMMENT 'of the posting, as all that follow; null = not told',
  industry STRING,
  state STRING,
  region STRING COMMENT 'the Census Bureau''s: northeast, midwest, south, west',
  metro STRING,
  job_type STRING COMMENT 'as the posting says, else the entry-level word of its title',
  prompt_key STRING NOT NULL COMMENT 'content_key of the posting as the prompt shows it',
  content_key STRING NOT NULL COMMENT 'of text: key of contents',
  text STRING NOT NULL COMMENT 'the profile as it is sent: JSON'
) USING delta CLUSTER BY (audit_id, contrast) COMMENT 'Silver: profiles of paired-callback audits';
ALTER TABLE pair_documents ADD CONSTRAINT kind_known CHECK (kind IN ('real', 'placebo'));
ALTER TABLE pair_documents ADD CONSTRAINT side_known CHECK (side IN ('favored', 'other'));
