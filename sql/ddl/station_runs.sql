-- What each station of an audit did last, and from which inputs: a station whose fingerprint is unchanged is not run again.
-- One row per: audit_id, station
CREATE TABLE IF NOT EXISTS station_runs (
  audit_id STRING NOT NULL,
  station STRING NOT NULL COMMENT 'ingest, applicants, render, score, estimate, report',
  fingerprint STRING NOT NULL COMMENT 'hash of the settings and input versions that it depends on',
  config_hash STRING NOT NULL,
  package_version STRING NOT NULL,
  detail STRING NOT NULL COMMENT 'JSON: counts and table versions',
  finished_at TIMESTAMP NOT NULL
) USING delta COMMENT 'Gold: ledger of stations';
