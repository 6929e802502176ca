-- Versions of resumes in a ranking audit: which label, how much of the text, and what gives the label away.
-- One row per: audit_id, document_id
CREATE TABLE IF NOT EXISTS rank_documents (
  audit_id STRING NOT NULL,
  document_id STRING NOT NULL COMMENT 'resume_id/information/version',
  resume_id STRING NOT NULL COMMENT 'as in corpus_resume; applicant_id of documents, requests and scores',
  industry STRING NOT NULL COMMENT 'job of documents, requests and scores',
  role STRING NOT NULL COMMENT 'the job applied for, as the prompt names it',
  version STRING NOT NULL COMMENT 'the label; none; placebo:LABEL; repeat:LABEL',
  kind STRING NOT NULL COMMENT 'label, none: ranked with each other; placebo, repeat: controls',
  slot INT NOT NULL COMMENT 'place of the label among those of its kind; of a repeat that of the label repeated',
  label STRING COMMENT 'what stands in the label line; null = no line',
  information INT NOT NULL COMMENT 'percent of the resume''s chunks that is shown; 100 = the text as it is',
  words INT NOT NULL COMMENT 'of the text that is sent, without the label line',
  flagged BOOLEAN NOT NULL COMMENT 'whether the resume''s own text has a cue, as it came: see leakage_hits',
  runs INT NOT NULL COMMENT 'how often it is asked',
  first_replicate INT NOT NULL COMMENT 'replicate of its first request: above 0 where the same text is asked about again',
  prompt_key STRING NOT NULL COMMENT 'content_key of the role',
  content_key STRING NOT NULL COMMENT 'of text: key of contents',
  text STRING NOT NULL COMMENT 'as it is sent: the label line, if any, and what is shown of the resume'
) USING delta CLUSTER BY (audit_id, industry) COMMENT 'Silver: versions of resumes in ranking audits';
ALTER TABLE rank_documents ADD CONSTRAINT kind_known CHECK (kind IN ('label', 'none', 'placebo', 'repeat'));
