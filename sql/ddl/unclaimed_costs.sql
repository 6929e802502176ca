-- What attempts can have cost whose call ended without a reply (stopped, or out of money, after a
-- timeout). scoring.max_cost counts them beside replies.cost_max_usd. Waves without any have no row.
-- One row per: wave_id
CREATE TABLE IF NOT EXISTS unclaimed_costs (
  wave_id STRING NOT NULL,
  audit_id STRING NOT NULL,
  model STRING NOT NULL COMMENT 'as the audit calls it',
  cost_max_usd DOUBLE NOT NULL COMMENT 'US dollars, upper bound'
) USING delta CLUSTER BY (wave_id) COMMENT 'Gold: possible costs without a reply';
