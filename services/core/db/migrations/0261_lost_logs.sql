-- What a person should know of a log that was lost: how much was published again, and that somebody has seen it.
-- depends: 0241_pages

ALTER TABLE log_topics
    ADD COLUMN republished     bigint NOT NULL DEFAULT 0,
    ADD COLUMN acknowledged_at timestamptz;
COMMENT ON COLUMN log_topics.republished IS 'How many events were published again after the last loss, both passes together.';
COMMENT ON COLUMN log_topics.acknowledged_at IS 'When an operator acknowledged the last loss; older than lost_at, it was an earlier one.';
