-- Raw replies. They belong to no audit: keyed by what was sent, shared by audits.
-- One row per: call_key
CREATE TABLE IF NOT EXISTS replies (
  call_key STRING NOT NULL,
  model STRING NOT NULL,
  model_version STRING COMMENT 'as reported by the screener (embedding: SHA-256 of the model file)',
  transport STRING NOT NULL COMMENT 'answered, refused or failed',
  reply STRING COMMENT 'raw reply; null = none came',
  finish_reason STRING,
  error STRING COMMENT 'what went wrong, without secrets',
  attempts INT NOT NULL,
  latency_ms DOUBLE,
  tokens_in BIGINT,
  tokens_out BIGINT,
  cost_usd DOUBLE,
  asked_at TIMESTAMP NOT NULL,
  wave_id STRING NOT NULL
) USING delta CLUSTER BY (call_key) COMMENT 'Gold: raw replies';
