-- name: waiting_since
-- Since when the oldest alert of the channel waits.
SELECT min(raised_at) AS at FROM alerts WHERE channel_id = %(channel_id)s AND digest_id IS NULL;

-- name: waiting
-- What waits in the channel, oldest first.
SELECT alert_id FROM alerts WHERE channel_id = %(channel_id)s AND digest_id IS NULL
ORDER BY raised_at, alert_id LIMIT %(most)s;

-- name: newest_digest
-- The channel's newest mail or call.
SELECT digest_id, state, attempt, message_id, grouped_at, changed_at, retry_at FROM alert_digests
WHERE channel_id = %(channel_id)s ORDER BY grouped_at DESC, digest_id DESC LIMIT 1;

-- name: calls_of
-- The requests for a person that a digest holds. Those of an erased person can no longer be read.
SELECT e.id, e.type, e.time, e.data, coalesce(t.subject, '') AS subject
FROM alerts a JOIN events e ON e.id = a.call_id LEFT JOIN threads t ON t.thread_id = a.thread_id
WHERE a.digest_id = %(digest_id)s ORDER BY a.raised_at, a.alert_id;

-- name: users
-- Users of the console who can be written to, for notes that name them.
SELECT user_id, name, email FROM users
WHERE workspace = %(workspace)s AND removed_at IS NULL AND joined_at IS NOT NULL AND email <> '' ORDER BY user_id;

-- name: sending_hold
-- Whether nothing may leave.
SELECT reason FROM sending_holds WHERE workspace = %(workspace)s;

-- name: insert_alert
INSERT INTO alerts (alert_id, channel_id, workspace, call_id, thread_id, kind, raised_at)
VALUES (%(alert_id)s, %(channel_id)s, %(workspace)s, %(call_id)s, %(thread_id)s, %(kind)s, %(at)s);

-- name: insert_digest
INSERT INTO alert_digests (digest_id, channel_id, workspace, state, message_id, grouped_at, changed_at)
VALUES (%(digest_id)s, %(channel_id)s, %(workspace)s, 'grouped', %(message_id)s, %(grouped_at)s, %(grouped_at)s);

-- name: put_into_digest
UPDATE alerts SET digest_id = %(digest_id)s WHERE alert_id = ANY(%(alert_ids)s);

-- name: set_sent
UPDATE alert_digests SET state = 'sent', attempt = %(attempt)s, detail = %(response)s, changed_at = %(sent_at)s,
    retry_at = NULL
WHERE digest_id = %(digest_id)s;

-- name: set_deferred
UPDATE alert_digests SET attempt = %(attempt)s, detail = %(error)s, retry_at = %(retry_at)s
WHERE digest_id = %(digest_id)s;

-- name: set_failed
UPDATE alert_digests SET state = 'failed', attempt = %(attempt)s, detail = %(error)s, changed_at = %(failed_at)s,
    retry_at = NULL
WHERE digest_id = %(digest_id)s;
