-- ACS PUMS person records as surveyed, one vintage beside another, 1-year beside 5-year files.
-- Weights sum to the population within one vintage and period: choose both in every query.
-- A person who came in two files (a state's and the nation's) stands here twice, apart by source.
-- One row per: source_sha256, serialno, sporder
CREATE TABLE IF NOT EXISTS acs_person (
  vintage INT NOT NULL COMMENT 'survey year; of a file that pools several years, the last one',
  period INT COMMENT 'years of data that the file pools: 1, 5 (or 3, to 2013); null = written before this column existed, 1',
  serialno STRING NOT NULL COMMENT 'SERIALNO, text',
  sporder STRING NOT NULL COMMENT 'SPORDER, zero-padded',
  state STRING NOT NULL COMMENT 'FIPS state code, two digits (ST, or STATE from 2023)',
  puma STRING COMMENT 'PUMA, five digits; areas of the 2020 census for years from 2022, of an earlier one before',
  age INT NOT NULL COMMENT 'AGEP, years',
  sex STRING NOT NULL COMMENT 'SEX: 1 male, 2 female',
  rac1p STRING COMMENT 'RAC1P',
  hisp STRING COMMENT 'HISP, two digits',
  schl STRING COMMENT 'SCHL, two digits; null = out of universe',
  esr STRING COMMENT 'ESR; null = out of universe',
  occp STRING COMMENT 'OCCP, four digits; null = out of universe',
  relationship STRING COMMENT 'RELP (to 2018) or RELSHIPP (2019+), two digits',
  pwgtp INT NOT NULL COMMENT 'PWGTP',
  replicate_weights ARRAY<INT> COMMENT 'PWGTP1 to PWGTP80; zero and negative are legal; null = the file has none',
  source_sha256 STRING NOT NULL COMMENT 'SHA-256 of the zip member it came from; see source_file'
) USING delta CLUSTER BY (vintage, occp, state)
COMMENT 'Bronze: ACS PUMS person records';
ALTER TABLE acs_person ADD CONSTRAINT sex_code CHECK (sex IN ('1', '2'));
ALTER TABLE acs_person ADD CONSTRAINT replicates CHECK (replicate_weights IS NULL OR size(replicate_weights) = 80);
