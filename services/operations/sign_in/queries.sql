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

-- name: join
UPDATE users SET joined_at = %(now)s
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND joined_at IS NULL AND removed_at IS NULL;

-- name: session
-- A session with its user as they are now; none of somebody who was removed, nor of a release without users.
SELECT s.token_sha256, s.expires_at, u.user_id, u.name, u.email, u.role, u.joined_at, u.invited_by, u.invited_at,
       u.password_hash <> '' AS has_password, u.totp_secret IS NOT NULL AS has_second_factor
FROM console_sessions s JOIN users u USING (workspace, user_id)
WHERE s.token_sha256 = %(token_sha256)s AND s.workspace = %(workspace)s AND s.kind = 'session'
  AND s.expires_at > %(now)s AND u.removed_at IS NULL;

-- name: end
DELETE FROM console_sessions WHERE token_sha256 = %(token_sha256)s AND workspace = %(workspace)s AND kind = 'session';
