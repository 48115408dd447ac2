-- name: waiting
-- Held drafts whose turn is still open, oldest first, of one id where it is given: the event with the text, and the version of
-- the thread that a person now looks at.
SELECT d.reply_id, d.thread_id, d.created_at, d.detail AS reason, h.data,
       a.version AS thread_version, m.subject, coalesce(nullif(m.author_written, ''), m.author_addr) AS recipient,
       m.identity AS sender_level
FROM turns u
JOIN deliveries d ON d.turn_id = u.turn_id
JOIN threads t ON t.thread_id = d.thread_id AND t.open_turn = d.turn_id
JOIN aggregates a ON a.workspace = d.workspace AND a.kind = 'thread' AND a.id = d.thread_id
JOIN LATERAL (SELECT data FROM events WHERE type = 'reply.held.v1' AND aggregate = 'delivery' AND aggregate_id = d.reply_id
              ORDER BY version DESC LIMIT 1) h ON true
JOIN mails m ON m.mail_id = u.mail_ids[cardinality(u.mail_ids)]
WHERE u.closed_at IS NULL AND d.workspace = %(workspace)s AND d.state = 'draft'
  AND (%(reply_id)s::uuid IS NULL OR d.reply_id = %(reply_id)s)
  AND (d.created_at, d.reply_id) > (%(after_created_at)s::timestamptz, %(after_reply_id)s::uuid)
ORDER BY d.created_at, d.reply_id LIMIT %(limit)s;

-- name: drafted
-- What the model drafted in some threads, the passages that it cites among it.
SELECT data FROM events WHERE type = 'reply.drafted.v1' AND key = ANY(%(threads)s);

-- name: state
SELECT state, detail FROM deliveries WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s;

-- name: past
-- A reply with what was held of it, and how its turn ended.
SELECT d.reply_id, d.thread_id, d.state, d.detail, coalesce(u.outcome, '') AS outcome,
       (SELECT data FROM events WHERE type = 'reply.held.v1' AND aggregate = 'delivery' AND aggregate_id = d.reply_id
        ORDER BY version DESC LIMIT 1) AS data
FROM deliveries d LEFT JOIN turns u USING (turn_id) WHERE d.workspace = %(workspace)s AND d.reply_id = %(reply_id)s;
