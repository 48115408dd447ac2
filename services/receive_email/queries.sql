-- name: hold_event
-- Two that accept the same mail at once do so one after the other.
SELECT pg_advisory_xact_lock(hashtextextended(%(id)s::uuid::text, 0));

-- name: event
-- The event as it was stored first, if it was.
SELECT e.*, EXISTS (SELECT FROM outbox o WHERE o.event_id = e.id) AS unpublished FROM events e WHERE e.id = %(id)s;

-- name: is_receipted
-- Whether the mail was let in, also where its event has left the table for an archived file.
SELECT 1 AS found FROM receipts WHERE mail_id = %(mail_id)s;

-- name: receipt
-- A mail of this inbox with the same Message-ID and body.
SELECT mail_id FROM receipts
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND fingerprint = %(fingerprint)s LIMIT 1;

-- name: keep_receipt
-- A mail has been let in.
INSERT INTO receipts (mail_id, workspace, inbox, fingerprint)
VALUES (%(mail_id)s, %(workspace)s, %(inbox)s, %(fingerprint)s) ON CONFLICT (mail_id) DO NOTHING;

-- name: claim_request
-- What this signed request was first used for; the first word stands. Those long stale are forgotten on the way, but not
-- of formats that carry no time: nothing else would refuse them.
WITH old AS (
    DELETE FROM webhook_requests WHERE ctid IN (
        SELECT ctid FROM webhook_requests WHERE seen_at < %(now)s - interval '7 days' AND format = ANY(%(dated)s) LIMIT 10 FOR UPDATE SKIP LOCKED))
INSERT INTO webhook_requests (workspace, format, request_id, binding, seen_at)
VALUES (%(workspace)s, %(format)s, %(request_id)s, %(binding)s, %(now)s)
ON CONFLICT (workspace, format, request_id) DO UPDATE SET binding = webhook_requests.binding
RETURNING binding;

-- name: position
-- Up to where a folder has been read.
SELECT uidvalidity, last_uid, begun_at FROM inbox_positions
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND folder = %(folder)s;

-- name: begin_position
-- A folder is read from here on; another process that began it earlier is right.
INSERT INTO inbox_positions (workspace, inbox, folder, uidvalidity, last_uid, begun_at)
VALUES (%(workspace)s, %(inbox)s, %(folder)s, %(uidvalidity)s, %(last_uid)s, %(begun_at)s)
ON CONFLICT (workspace, inbox, folder) DO NOTHING;

-- name: move_position
-- Everything up to this UID is on the log. Within one UIDVALIDITY the position only moves forward.
UPDATE inbox_positions
SET uidvalidity = %(uidvalidity)s,
    last_uid = CASE WHEN uidvalidity = %(uidvalidity)s THEN greatest(last_uid, %(last_uid)s) ELSE %(last_uid)s END
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND folder = %(folder)s;

-- name: keep_unfetched
-- The server did not hand this mail over, once more.
INSERT INTO unfetched_mails (workspace, inbox, folder, uidvalidity, uid, attempts, error, tried_at)
VALUES (%(workspace)s, %(inbox)s, %(folder)s, %(uidvalidity)s, %(uid)s, 1, %(error)s, %(now)s)
ON CONFLICT (workspace, inbox, folder, uidvalidity, uid)
DO UPDATE SET attempts = unfetched_mails.attempts + 1, error = excluded.error, tried_at = excluded.tried_at;

-- name: unfetched
-- What is to be tried again, each with when: after a pause that doubles from `first_s` seconds to `longest_s`.
SELECT uid, tried_at + make_interval(secs => least(%(longest_s)s, %(first_s)s * 2 ^ least(attempts - 1, 20))) AS due_at
FROM unfetched_mails
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND folder = %(folder)s AND uidvalidity = %(uidvalidity)s
ORDER BY due_at, uid;

-- name: forget_unfetched
-- The mail came after all, or is gone.
DELETE FROM unfetched_mails
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND folder = %(folder)s AND uidvalidity = %(uidvalidity)s
  AND uid = %(uid)s;
