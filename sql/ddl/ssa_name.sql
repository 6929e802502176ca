-- First names by birth year and sex, as their publisher lists them; editions side by side.
-- One row per: source_sha256, birth_year, sex, name
CREATE TABLE IF NOT EXISTS ssa_name (
  birth_year INT COMMENT 'null = the list tells no year: the same names in every year',
  sex STRING NOT NULL COMMENT 'F or M',
  name STRING NOT NULL COMMENT 'Unicode NFC, straight apostrophes, case as published',
  births INT NOT NULL COMMENT 'as published; the SSA leaves out names under 5 births of a year and sex',
  source_sha256 STRING NOT NULL,
  hidden_births INT COMMENT 'births at most that privacy hides beside this row: 4 for each state that lists none (state files); null = 0',
  hidden_if_absent INT COMMENT 'births at most of a name without a row for a year and sex: 4 (SSA), 4 for each state (state files), 0 (own list); null = 4',
  source_kind STRING COMMENT 'ssa_national, ssa_by_state, own_list; null = ssa_national'
) USING delta CLUSTER BY (birth_year) COMMENT 'Bronze: first names (SSA, or a list of the user)';
ALTER TABLE ssa_name DROP CONSTRAINT births_floor;
ALTER TABLE ssa_name ADD CONSTRAINT births_above_0 CHECK (births > 0);
