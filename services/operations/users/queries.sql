-- name: listed
SELECT user_id, name, email, role, joined_at, invited_by, invited_at,
       password_hash <> '' AS has_password, totp_secret IS NOT NULL AS has_second_factor, language,
       first_steps_closed, keys
FROM users WHERE workspace = %(workspace)s AND removed_at IS NULL ORDER BY name_key;

-- name: one
SELECT user_id, name, email, role, joined_at, invited_by, invited_at,
       password_hash <> '' AS has_password, totp_secret IS NOT NULL AS has_second_factor, language,
       first_steps_closed, keys
FROM users WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: anybody
SELECT 1 AS one FROM users WHERE workspace = %(workspace)s AND removed_at IS NULL LIMIT 1;

-- name: add
-- No row where a team has the name.
INSERT INTO users (user_id, workspace, name, name_key, email, role, invited_by, invited_at, joined_at)
SELECT %(user_id)s, %(workspace)s, %(name)s, %(name_key)s, %(email)s, %(role)s, %(by)s, %(now)s, %(joined_at)s
WHERE NOT EXISTS (SELECT FROM teams WHERE workspace = %(workspace)s AND name_key = %(name_key)s)
RETURNING user_id;

-- name: admins
SELECT user_id FROM users
WHERE workspace = %(workspace)s AND role = 'admin' AND joined_at IS NOT NULL AND removed_at IS NULL
ORDER BY user_id FOR UPDATE;

-- name: set_role
UPDATE users SET role = %(role)s WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: set_language
UPDATE users SET language = %(language)s
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: close_first_steps
UPDATE users SET first_steps_closed = %(closed)s
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: set_keys
UPDATE users SET keys = %(keys)s
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: remove
UPDATE users SET removed_at = %(now)s, email = '', left_address = %(left)s, password_hash = '', totp_secret = NULL,
                 language = '', keys = '{}'
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: set_password
UPDATE users SET password_hash = %(hash)s
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: by_email
SELECT user_id, password_hash FROM users
WHERE workspace = %(workspace)s AND email = %(email)s AND email <> '' AND joined_at IS NOT NULL AND removed_at IS NULL;

-- name: end_sessions
DELETE FROM console_sessions
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND token_sha256 <> %(but)s;

-- name: end_links
-- An invitation counts for nothing once its user joined another way.
DELETE FROM console_sessions WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND kind = 'link';

-- name: set_second_factor
UPDATE users SET totp_secret = %(secret)s, totp_step = 0
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND removed_at IS NULL;

-- name: second_factor
SELECT totp_secret FROM users WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND totp_secret IS NOT NULL;

-- name: use_step
-- A code counts once: of two requests with the same one only the first finds a lower step.
UPDATE users SET totp_step = %(step)s
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND totp_step < %(step)s RETURNING user_id;

-- name: add_token
INSERT INTO user_tokens (token_sha256, workspace, token_id, user_id, label, scopes, created_at, expires_at)
VALUES (%(token_sha256)s, %(workspace)s, %(token_id)s, %(user_id)s, %(label)s, %(scopes)s, %(now)s, %(expires_at)s);

-- name: tokens
SELECT token_id, label, scopes, created_at, expires_at FROM user_tokens
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND expires_at > %(now)s ORDER BY created_at DESC, token_id;

-- name: end_token
DELETE FROM user_tokens WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND token_id = %(token_id)s;

-- name: forget_views
DELETE FROM saved_views WHERE workspace = %(workspace)s AND user_id = %(user_id)s;

-- name: end_tokens
DELETE FROM user_tokens WHERE workspace = %(workspace)s AND user_id = %(user_id)s;

-- name: forget_tokens
DELETE FROM user_tokens WHERE expires_at <= %(now)s;

-- name: bearer
SELECT u.name, u.role, t.scopes FROM user_tokens t JOIN users u USING (workspace, user_id)
WHERE t.workspace = %(workspace)s AND t.token_sha256 = %(token_sha256)s AND t.expires_at > %(now)s
  AND u.removed_at IS NULL;

-- name: add_audit
INSERT INTO console_audit (audit_id, workspace, at, by, act, subject, status)
VALUES (%(audit_id)s, %(workspace)s, %(at)s, %(by)s, %(act)s, %(subject)s, %(status)s);

-- name: forget_audit
DELETE FROM console_audit WHERE workspace = %(workspace)s AND at < %(before)s;

-- name: audit
SELECT audit_id, at, by, act, subject, status FROM console_audit
WHERE workspace = %(workspace)s AND (at, audit_id) < (%(after_at)s::timestamptz, %(after_audit_id)s::uuid)
ORDER BY at DESC, audit_id DESC LIMIT %(limit)s;

-- name: identity
SELECT i.user_id, u.removed_at IS NOT NULL AS removed FROM oidc_identities i JOIN users u USING (workspace, user_id)
WHERE i.workspace = %(workspace)s AND i.issuer = %(issuer)s AND i.subject = %(subject)s;

-- name: add_identity
INSERT INTO oidc_identities (workspace, issuer, subject, user_id, linked_at)
VALUES (%(workspace)s, %(issuer)s, %(subject)s, %(user_id)s, %(now)s);

-- name: link_identity
-- An account of somebody who was removed is given on; that of another user is not, and then there is no row.
INSERT INTO oidc_identities AS i (workspace, issuer, subject, user_id, linked_at)
VALUES (%(workspace)s, %(issuer)s, %(subject)s, %(user_id)s, %(now)s)
ON CONFLICT (workspace, issuer, subject) DO UPDATE SET user_id = excluded.user_id, linked_at = excluded.linked_at
WHERE i.user_id = excluded.user_id
   OR EXISTS (SELECT 1 FROM users u WHERE u.workspace = i.workspace AND u.user_id = i.user_id AND u.removed_at IS NOT NULL)
RETURNING user_id;

-- name: identities
SELECT issuer, linked_at FROM oidc_identities
WHERE workspace = %(workspace)s AND user_id = %(user_id)s ORDER BY linked_at, issuer, subject;

-- name: end_identities
DELETE FROM oidc_identities WHERE workspace = %(workspace)s AND user_id = %(user_id)s;

-- name: with_address
-- None who has an account at this provider already.
SELECT u.user_id FROM users u
WHERE u.workspace = %(workspace)s AND u.email = %(email)s AND u.email <> '' AND u.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM oidc_identities i
                  WHERE i.workspace = u.workspace AND i.user_id = u.user_id AND i.issuer = %(issuer)s);

-- name: join
UPDATE users SET joined_at = %(now)s
WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND joined_at IS NULL AND removed_at IS NULL;

-- name: left
SELECT 1 AS one FROM users WHERE workspace = %(workspace)s AND left_address = ANY(%(marks)s::text[]) LIMIT 1;
