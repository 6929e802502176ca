-- Where another parser (also_parsers) reads the same replies differently than the scores' own.
-- One row per: audit_id, model, document_format, other_parser, gender, race
CREATE TABLE IF NOT EXISTS parser_agreement (
  audit_id STRING NOT NULL,
  model STRING NOT NULL,
  document_format STRING NOT NULL,
  parser STRING NOT NULL COMMENT 'name and version of the parser of the scores',
  other_parser STRING NOT NULL COMMENT 'name and version of the parser compared with it',
  gender STRING NOT NULL,
  race STRING NOT NULL,
  requests BIGINT NOT NULL COMMENT 'requests of this group, whatever their outcome',
  differ BIGINT NOT NULL COMMENT 'of these: another outcome or another score',
  differ_in_score BIGINT NOT NULL COMMENT 'of these: both have a score, and not the same',
  ok BIGINT NOT NULL COMMENT 'requests with a score by parser',
  other_ok BIGINT NOT NULL COMMENT 'requests with a score by other_parser',
  mean_score DOUBLE COMMENT 'by parser, over its ok (yes / no: the rate of yes); null = none is ok',
  other_mean_score DOUBLE COMMENT 'by other_parser, over its ok; null = none is ok',
  both_ok BIGINT COMMENT 'requests with a score by both; this and the sums: null = older fairscreen',
  sum_score DOUBLE COMMENT 'of scores by parser',
  sum_square DOUBLE COMMENT 'of their squares',
  other_sum_score DOUBLE COMMENT 'of scores by other_parser',
  other_sum_square DOUBLE COMMENT 'of their squares',
  both_sum_score DOUBLE COMMENT 'of scores by parser, over both_ok',
  both_other_sum_score DOUBLE COMMENT 'of scores by other_parser, over both_ok',
  both_sum_product DOUBLE COMMENT 'of the products of both scores, over both_ok'
) USING delta CLUSTER BY (audit_id) COMMENT 'Gold: agreement of parsers';
