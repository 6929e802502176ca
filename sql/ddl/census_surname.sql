-- Census 2010 surnames with 100 or more bearers. Suppressed cells "(S)" are null.
-- One row per: name
CREATE TABLE IF NOT EXISTS census_surname (
  name STRING NOT NULL COMMENT 'upper case, as published; NULL, TRUE and NAN are real surnames',
  bearers INT NOT NULL COMMENT 'count',
  pct_white DOUBLE COMMENT 'percent; null = suppressed for confidentiality',
  pct_black DOUBLE,
  pct_asian_pacific DOUBLE COMMENT 'pctapi',
  pct_native DOUBLE COMMENT 'pctaian',
  pct_two_or_more DOUBLE COMMENT 'pct2prace',
  pct_hispanic DOUBLE,
  source_sha256 STRING NOT NULL
) USING delta COMMENT 'Bronze: Census surnames';
