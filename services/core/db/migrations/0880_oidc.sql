-- Signing in to the console by an account at an OpenID provider.
-- depends: 0831_ratings

CREATE TABLE oidc_sign_ins (
    state_sha256   text PRIMARY KEY,
    workspace      text NOT NULL,
    browser_sha256 text NOT NULL,
    place          text NOT NULL,
    user_id        uuid REFERENCES users,
    expires_at     timestamptz NOT NULL
);
CREATE INDEX oidc_sign_ins_by_expiry ON oidc_sign_ins (expires_at);
COMMENT ON TABLE oidc_sign_ins IS 'Browsers on their way to an OpenID provider and back. A row is used once; only hashes are stored.';
COMMENT ON COLUMN oidc_sign_ins.user_id IS 'The user who links the account to themselves; null: somebody signs in.';

CREATE TABLE oidc_identities (
    workspace text NOT NULL,
    issuer    text NOT NULL,
    subject   text NOT NULL,
    user_id   uuid NOT NULL REFERENCES users,
    linked_at timestamptz NOT NULL,
    PRIMARY KEY (workspace, issuer, subject)
);
CREATE INDEX oidc_identities_by_user ON oidc_identities (user_id);
COMMENT ON TABLE oidc_identities IS 'Accounts at an OpenID provider, and whose they are. That of a removed user stays, so that it makes no new one.';

ALTER TABLE users ADD COLUMN left_address text NOT NULL DEFAULT '';
COMMENT ON COLUMN users.left_address IS
'Of one who was removed: a mark of their address under the deployment''s secret, so that signing in makes no new user of them.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
