-- Who may sign in to the console, with what role; their own API tokens; and the record of what was done through the console.
-- depends: 0340_answers

CREATE TABLE users (
    user_id       uuid PRIMARY KEY,
    workspace     text NOT NULL,
    name          text NOT NULL,
    name_key      text NOT NULL,
    email         text NOT NULL DEFAULT '',
    role          text NOT NULL CHECK (role IN ('viewer', 'agent', 'admin')),
    password_hash text NOT NULL DEFAULT '',
    totp_secret   bytea,
    totp_step     bigint NOT NULL DEFAULT 0,
    invited_by    text NOT NULL DEFAULT '',
    invited_at    timestamptz NOT NULL,
    joined_at     timestamptz,
    removed_at    timestamptz
);
-- A name is what `by` records: it is never given to a second person, not even once its own has left.
CREATE UNIQUE INDEX users_by_name ON users (workspace, name_key);
CREATE UNIQUE INDEX users_by_email ON users (workspace, email) WHERE email <> '';
COMMENT ON TABLE users IS 'People who may sign in to the console. Of one who was removed the name stays, and nothing else.';
COMMENT ON COLUMN users.name_key IS 'The name as it is compared: NFKC, case folded.';
COMMENT ON COLUMN users.password_hash IS 'Argon2id in PHC form; empty: signs in by a one-time link alone.';
COMMENT ON COLUMN users.totp_secret IS 'The key of the second factor, sealed with the secret of the deployment; null: none.';
COMMENT ON COLUMN users.totp_step IS 'The last time step whose code was used: no code counts twice.';

CREATE TABLE user_tokens (
    token_sha256 text PRIMARY KEY,
    workspace    text NOT NULL,
    token_id     uuid NOT NULL,
    user_id      uuid NOT NULL REFERENCES users,
    label        text NOT NULL,
    scopes       text[] NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX user_tokens_by_user ON user_tokens (user_id);
COMMENT ON TABLE user_tokens IS 'API tokens that users made for themselves, as hashes.';

CREATE TABLE console_audit (
    audit_id  uuid PRIMARY KEY,
    workspace text NOT NULL,
    at        timestamptz NOT NULL,
    by        text NOT NULL,
    act       text NOT NULL,
    subject   text NOT NULL,
    status    int NOT NULL
);
CREATE INDEX console_audit_by_time ON console_audit (workspace, at, audit_id);
COMMENT ON TABLE console_audit IS 'What signed-in people did through the console: act, address and what it answered, no content.';

ALTER TABLE console_sessions ADD COLUMN user_id uuid REFERENCES users;
CREATE INDEX console_sessions_by_user ON console_sessions (user_id);
COMMENT ON COLUMN console_sessions.user_id IS 'Whose it is; null: a link that makes the first user, or a session of a release without users.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
