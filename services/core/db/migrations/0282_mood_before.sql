-- The mood before the last turn that told of one: whether it rises or falls.
-- depends: 0275_done_by_type

ALTER TABLE participants ADD COLUMN sentiment_before double precision;
COMMENT ON COLUMN participants.sentiment_before IS
'The mood before the last turn that told of it; null where the event was written by a release that did not note it.';
