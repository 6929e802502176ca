-- Who ran an audit, one row for each time its lease was taken: one run of an audit at a time.
-- One row per: audit_id, epoch
CREATE TABLE IF NOT EXISTS leases (
  audit_id STRING NOT NULL,
  epoch BIGINT NOT NULL COMMENT '1, 2, ...; the highest holds the lease while its heartbeat file is fresh',
  owner STRING NOT NULL COMMENT 'JSON: token, host, process, namespace of its number, since',
  taken_at TIMESTAMP NOT NULL
) USING delta COMMENT 'Gold: leases of audits';
