-- name: store
INSERT INTO console_sessions (token_sha256, workspace, kind, by, user_id, created_at, expires_at)
VALUES (%(token_sha256)s, %(workspace)s, %(kind)s, %(by)s, %(user_id)s, %(now)s, %(expires_at)s);

-- name: forget_expired
DELETE FROM console_sessions WHERE expires_at <= %(now)s;

-- name: use_link
-- A link is used by whoever deletes its row.
DELETE FROM console_sessions
WHERE token_sha256 = %(token_sha256)s AND workspace = %(workspace)s AND kind = 'link' AND expires_at > %(now)s
RETURNING token_sha256;

-- name: known
SELECT token_sha256, user_id FROM console_sessions
WHERE token_sha256 = %(token_sha256)s AND workspace = %(workspace)s AND kind = %(kind)s AND expires_at > %(now)s;

-- name: session
-- A session with its user as they are now; none of somebody who was removed, nor of a release without users.
SELECT s.token_sha256, s.expires_at, u.user_id, u.name, u.email, u.role, u.joined_at, u.invited_by, u.invited_at,
       u.password_hash <> '' AS has_password, u.totp_secret IS NOT NULL AS has_second_factor, u.language,
       u.first_steps_closed, u.keys
FROM console_sessions s JOIN users u USING (workspace, user_id)
WHERE s.token_sha256 = %(token_sha256)s AND s.workspace = %(workspace)s AND s.kind = 'session'
  AND s.expires_at > %(now)s AND u.removed_at IS NULL;

-- name: end
DELETE FROM console_sessions WHERE token_sha256 = %(token_sha256)s AND workspace = %(workspace)s AND kind = 'session';

-- name: set_out
INSERT INTO oidc_sign_ins (state_sha256, workspace, browser_sha256, place, user_id, expires_at)
VALUES (%(state_sha256)s, %(workspace)s, %(browser_sha256)s, %(place)s, %(user_id)s, %(expires_at)s);

-- name: forget_lost
DELETE FROM oidc_sign_ins WHERE expires_at <= %(now)s;

-- name: come_back
-- A state is used by whoever deletes its row.
DELETE FROM oidc_sign_ins
WHERE state_sha256 = %(state_sha256)s AND workspace = %(workspace)s AND browser_sha256 = %(browser_sha256)s
  AND expires_at > %(now)s
RETURNING place, user_id;
