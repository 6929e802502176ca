-- SSA baby names as published (names with fewer than 5 births in a year are left out upstream).
-- One row per: birth_year, sex, name
CREATE TABLE IF NOT EXISTS ssa_name (
  birth_year INT NOT NULL,
  sex STRING NOT NULL COMMENT 'F or M',
  name STRING NOT NULL,
  births INT NOT NULL,
  source_sha256 STRING NOT NULL
) USING delta CLUSTER BY (birth_year) COMMENT 'Bronze: SSA national baby names';
ALTER TABLE ssa_name ADD CONSTRAINT births_floor CHECK (births >= 5);
