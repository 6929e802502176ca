-- Cues that the resumes of a ranking audit give by themselves, as they came.
-- One row per: audit_id, resume_id, kind, attribute, start
CREATE TABLE IF NOT EXISTS leakage_hits (
  audit_id STRING NOT NULL,
  resume_id STRING NOT NULL COMMENT 'as in corpus_resume: text[start:end] of its text is the hit',
  industry STRING NOT NULL,
  kind STRING NOT NULL COMMENT 'gender_field, title, pronoun, self_description, membership, name ...',
  attribute STRING NOT NULL COMMENT 'what it tells: gender, race ...',
  start INT NOT NULL COMMENT 'character, 0 = the first',
  end INT NOT NULL COMMENT 'the first after it',
  text STRING NOT NULL
) USING delta CLUSTER BY (audit_id) COMMENT 'Silver: demographic cues in resumes';
