-- A session knows what it was about and what was done in it.
-- depends: 0061_facts_by_model

ALTER TABLE sessions
    ADD COLUMN entities text[] NOT NULL DEFAULT '{}',
    ADD COLUMN actions text[] NOT NULL DEFAULT '{}';

COMMENT ON COLUMN sessions.entities IS 'Names and things of the session, the latest first.';
COMMENT ON COLUMN sessions.actions IS 'What was done, each with its time, the latest first.';
COMMENT ON COLUMN sessions.expires_at IS '24 hours after the last activity.';
