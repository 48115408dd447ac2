-- name: inbox
SELECT inbox FROM threads WHERE workspace = %(workspace)s AND thread_id = %(thread_id)s;

-- name: thread_of
SELECT thread_id FROM deliveries WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s;

-- name: own_reply
-- A person's own reply: its turn is there once it was accepted, its delivery once it was written.
SELECT %(reply_id)s::uuid AS reply_id, u.thread_id, coalesce(d.state, 'accepted') AS state, coalesce(d.detail, '') AS detail,
       CASE WHEN d.state = 'approved' THEN d.retry_at END AS leaves_at
FROM turns u LEFT JOIN deliveries d ON d.turn_id = u.turn_id AND d.reply_id = %(reply_id)s
WHERE u.workspace = %(workspace)s AND u.thread_id = %(thread_id)s AND u.turn_id = %(turn_id)s;

-- name: refusal
-- Why a request for a reply was refused.
SELECT data FROM events
WHERE aggregate = 'thread' AND aggregate_id = %(thread_id)s AND type = 'thread.reply_refused.v1' AND causation_id = %(cause)s
  AND version IS NOT NULL
ORDER BY version DESC LIMIT 1;

-- name: came
-- Messages by their ids, oldest first, those that are read and not attached yet too.
SELECT at, role, by, text FROM conversation WHERE thread_id = %(thread_id)s AND coalesce(mail_id, reply_id) = ANY(%(ids)s)
UNION ALL
SELECT m.received_at, 'customer', '', m.text FROM mails m
WHERE m.thread_id = %(thread_id)s AND m.mail_id = ANY(%(ids)s)
  AND NOT EXISTS (SELECT FROM conversation c WHERE c.thread_id = m.thread_id AND c.mail_id = m.mail_id)
ORDER BY at;

-- name: held
-- People's own replies in a thread that wait for their moment, and can be taken back until then.
SELECT d.reply_id, d.retry_at AS leaves_at, u.by, d.thread_id
FROM deliveries d JOIN turns u USING (turn_id)
WHERE d.workspace = %(workspace)s AND d.thread_id = %(thread_id)s AND d.state = 'approved' AND u.by <> '' AND d.retry_at > %(now)s
ORDER BY d.retry_at;
