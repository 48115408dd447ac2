-- How often a reply rests on a fact is counted, besides how often it was shown and answered a question.
-- depends: 0601_outreach

ALTER TABLE fact_uses ADD COLUMN cited int NOT NULL DEFAULT 0, ADD COLUMN cited_at timestamptz;
COMMENT ON COLUMN fact_uses.cited IS 'How many drafts named it as what they rest on.';
