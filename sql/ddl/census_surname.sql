-- Surnames with their bearers' race: the Census Bureau's (100 or more bearers) or a user's list.
-- One row per: source_sha256, name
CREATE TABLE IF NOT EXISTS census_surname (
  name STRING NOT NULL COMMENT 'as published, Unicode NFC, straight apostrophes; NULL, TRUE and NAN are real surnames',
  bearers INT NOT NULL COMMENT 'count',
  pct_white DOUBLE COMMENT 'percent of all bearers, not Hispanic; null = suppressed for confidentiality, (S), or not told',
  pct_black DOUBLE COMMENT 'not Hispanic',
  pct_asian_pacific DOUBLE COMMENT 'pctapi, not Hispanic',
  pct_native DOUBLE COMMENT 'pctaian, not Hispanic',
  pct_two_or_more DOUBLE COMMENT 'pct2prace, not Hispanic',
  pct_hispanic DOUBLE COMMENT 'of any race',
  source_sha256 STRING NOT NULL,
  source_kind STRING COMMENT 'census, own_list; null = census'
) USING delta COMMENT 'Bronze: surnames by race';
