-- Raw replies. They belong to no audit: keyed by what was sent, shared by audits.
-- A call has several rows where it was asked again on request (`retry`), or where two audits asked
-- it at the same time; scoring/parse.py (`settle`) says which of them an audit reads.
-- One row per: call_key, wave_id
CREATE TABLE IF NOT EXISTS replies (
  call_key STRING NOT NULL COMMENT 'hash of what was sent: key of requests',
  model STRING NOT NULL COMMENT 'as the screener calls itself',
  model_version STRING COMMENT 'as reported by the screener (embedding: SHA-256 of the model file)',
  transport STRING NOT NULL COMMENT 'answered, refused or failed',
  reply STRING COMMENT 'raw reply; null = none came',
  finish_reason STRING COMMENT 'as the provider says it',
  error STRING COMMENT 'what went wrong, without secrets',
  attempts INT NOT NULL COMMENT 'how often it was sent until this reply',
  latency_ms DOUBLE COMMENT 'of the last attempt, milliseconds',
  tokens_in BIGINT COMMENT 'as reported',
  tokens_out BIGINT COMMENT 'as reported',
  cost_usd DOUBLE COMMENT 'US dollars; null = not known',
  asked_at TIMESTAMP NOT NULL COMMENT 'when the reply was there, UTC',
  wave_id STRING NOT NULL COMMENT 'wave that asked it',
  retry INT COMMENT 'how often this call had been asked again on request (--retry); null = 0',
  p_yes DOUBLE COMMENT 'P(yes) / (P(yes) + P(no)) of the first token of the answer, 0 to 1; null = no log-probabilities',
  expected_score DOUBLE COMMENT 'mean score under the probabilities of the tokens of the answer, in the units of the prompt; null = no log-probabilities',
  provider_id STRING COMMENT 'id of the request at the provider',
  cost_max_usd DOUBLE COMMENT 'US dollars: upper bound of what this call can have cost, unanswered attempts included; null = not known'
) USING delta CLUSTER BY (call_key) COMMENT 'Gold: raw replies';
