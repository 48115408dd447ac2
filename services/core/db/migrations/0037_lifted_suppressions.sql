-- A person may lift a suppression; what bounces afterwards suppresses the address again.
-- depends: 0036_sent_copies

ALTER TABLE suppressions
    ADD COLUMN reply_id uuid,
    ADD COLUMN lifted_at timestamptz,
    ADD COLUMN lifted_by text NOT NULL DEFAULT '',
    ADD COLUMN lifted_because text NOT NULL DEFAULT '';
COMMENT ON COLUMN suppressions.at IS 'When the newest report about the address came; it is suppressed unless lifted since.';
COMMENT ON COLUMN suppressions.reply_id IS 'The reply that this report is about.';

UPDATE suppressions s SET reply_id = (
    SELECT e.aggregate_id FROM events e
    WHERE e.type = 'reply.bounced.v1' AND e.workspace = s.workspace AND e.data ->> 'mail_id' = s.mail_id::text LIMIT 1);
