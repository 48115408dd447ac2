-- A discarded dead letter counts as consumed: which event it was, and by whom it need not be done any more.
-- depends: 0092_letter_decisions

ALTER TABLE letter_decisions
    ADD COLUMN consumer text,
    ADD COLUMN event_id uuid;
CREATE INDEX letter_decisions_by_event ON letter_decisions (event_id, consumer) WHERE state = 'discarded';
COMMENT ON COLUMN letter_decisions.event_id IS 'The event that the letter was made of; null where the letter does not say.';
