-- name: waiting
-- Held drafts whose turn is still open, oldest first, of one id where it is given: the event with the text, and the version of
-- the thread that a person now looks at.
SELECT d.reply_id, d.thread_id, d.created_at, d.detail AS reason, h.data,
       a.version AS thread_version, m.subject, m.author_addr AS recipient
FROM deliveries d
JOIN threads t ON t.thread_id = d.thread_id AND t.open_turn = d.turn_id
JOIN turns u ON u.turn_id = d.turn_id
JOIN aggregates a ON a.workspace = d.workspace AND a.kind = 'thread' AND a.id = d.thread_id
JOIN events h ON h.type = 'reply.held.v1' AND h.aggregate = 'delivery' AND h.aggregate_id = d.reply_id
JOIN mails m ON m.mail_id = u.mail_ids[cardinality(u.mail_ids)]
WHERE d.workspace = %(workspace)s AND d.state = 'draft' AND (%(reply_id)s::uuid IS NULL OR d.reply_id = %(reply_id)s)
ORDER BY d.created_at, d.reply_id LIMIT %(limit)s;

-- name: state
SELECT state, detail FROM deliveries WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s;
