-- Surnames that an audit can draw: bearers, shares by race, group and its threshold.
-- Names with fewer than 100 bearers are not in the Census file (29 million people bear them).
-- One row per: audit_id, name
CREATE TABLE IF NOT EXISTS surname_typicality (
  audit_id STRING NOT NULL,
  name STRING NOT NULL COMMENT 'as printed',
  bearers INT NOT NULL,
  p_white DOUBLE COMMENT 'share of the bearers, not Hispanic; null = suppressed, or not told',
  p_black DOUBLE COMMENT 'not Hispanic',
  p_asian_pacific DOUBLE COMMENT 'not Hispanic',
  p_native DOUBLE COMMENT 'not Hispanic',
  p_two_or_more DOUBLE COMMENT 'not Hispanic',
  p_hispanic DOUBLE COMMENT 'of any race',
  p_suppressed DOUBLE NOT NULL COMMENT 'sum of the null shares: each lies between 0 and this. Drawing gives each an equal part',
  surname_group STRING NOT NULL COMMENT 'a race with a share above surname_threshold, else neutral',
  may_flip BOOLEAN NOT NULL COMMENT 'true: a null share could make another group',
  surname_threshold DOUBLE NOT NULL,
  source_kind STRING NOT NULL COMMENT 'census, own_list',
  source_sha256 STRING NOT NULL COMMENT 'see source_file'
) USING delta CLUSTER BY (audit_id) COMMENT 'Silver: typicality of surnames';
