-- Planned calls, committed before anything is asked. Wave ids are never reused.
-- One row per: wave_id, call_key
CREATE TABLE IF NOT EXISTS waves (
  wave_id STRING NOT NULL,
  audit_id STRING NOT NULL,
  model STRING NOT NULL,
  call_key STRING NOT NULL,
  shard INT NOT NULL,
  content_key STRING NOT NULL,
  prompt_key STRING NOT NULL,
  payload STRING COMMENT 'what else is sent, JSON; null = nothing',
  planned_at TIMESTAMP NOT NULL,
  retry INT COMMENT 'how often the call had been asked again on request (--retry); null = 0'
) USING delta CLUSTER BY (wave_id) COMMENT 'Gold: planned calls';
