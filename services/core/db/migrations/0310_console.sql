-- The console: who is signed in, and threads found by the words of their subject and of the people in them.
-- depends: 0290_brief_versions

CREATE TABLE console_sessions (
    token_sha256 text PRIMARY KEY,
    workspace    text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('link', 'session')),
    by           text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at);
COMMENT ON TABLE console_sessions IS
'One-time links that sign in to the console, and the sessions that they became. Only the hash of a token is stored.';

-- An address is found by each of its parts: the marks that would keep it one word are spaces. No function of ours, which would
-- stand in the schema that a rebuild drops once its tables have taken the place of the live ones.
CREATE INDEX threads_by_words ON threads USING gin (to_tsvector('simple', translate(subject, '@.-_+/', '      ')));
CREATE INDEX participants_by_words ON participants
    USING gin (to_tsvector('simple', translate(addr || ' ' || name, '@.-_+/', '      ')));

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
