-- Every message that supports a fact is found again by its words, not only the first one.
-- depends: 0011_provenance

ALTER TABLE fact_sources ADD COLUMN span_start int;
ALTER TABLE fact_sources ADD COLUMN span_end int;
ALTER TABLE fact_sources ADD COLUMN quote_sha256 text;
COMMENT ON COLUMN fact_sources.span_start IS 'Where the quote stands in the message''s text, in characters; NULL where a person said it, or for supports from before this column.';
COMMENT ON COLUMN fact_sources.quote_sha256 IS 'The hash of the quote in UTF-8; NULL without a quote.';

UPDATE fact_sources SET quote_sha256 = encode(sha256(convert_to(quote, 'UTF8')), 'hex') WHERE quote <> '';
UPDATE fact_sources s SET span_start = f.span_start, span_end = f.span_end
FROM facts f
WHERE f.fact_id = s.fact_id
  AND s.version = (SELECT min(version) FROM fact_sources first WHERE first.fact_id = s.fact_id);
