-- Question: which resumes of a corpus are not what its columns say, and in what?
-- One row per: source_sha256, resume_id
-- Reads: corpus_resume. Unit: words.
-- Rows behind a number: corpus_resume, the texts themselves.
-- Source: JobFair's layout: Resume_len counts the words of Resume; Cleaned_Resume is the resume without its leading role words.
SELECT
  source_sha256,
  resume_id,
  row_number,
  occupation,
  role,
  resume_len,
  resume_words,
  resume_words - resume_len AS words_not_counted,
  text_words,
  cleaned_is_resume_without_role,
  repairs
FROM corpus_resume
WHERE resume_len <> resume_words OR NOT cleaned_is_resume_without_role
ORDER BY source_sha256, row_number;
