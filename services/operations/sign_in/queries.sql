-- name: store
INSERT INTO console_sessions (token_sha256, workspace, kind, by, created_at, expires_at)
VALUES (%(token_sha256)s, %(workspace)s, %(kind)s, %(by)s, %(now)s, %(expires_at)s);

-- name: forget_expired
DELETE FROM console_sessions WHERE expires_at <= %(now)s;

-- name: use_link
-- A link is used by whoever deletes its row.
DELETE FROM console_sessions
WHERE token_sha256 = %(token_sha256)s AND workspace = %(workspace)s AND kind = 'link' AND expires_at > %(now)s
RETURNING token_sha256;

-- name: known
SELECT token_sha256, by, expires_at FROM console_sessions
WHERE token_sha256 = %(token_sha256)s AND workspace = %(workspace)s AND kind = %(kind)s AND expires_at > %(now)s;

-- name: end
DELETE FROM console_sessions WHERE token_sha256 = %(token_sha256)s AND workspace = %(workspace)s AND kind = 'session';
