-- name: waiting
-- Held drafts whose turn is still open.
SELECT d.reply_id, h.data ->> 'text' AS text, m.subject, m.author_addr
FROM deliveries d
JOIN threads t ON t.thread_id = d.thread_id AND t.open_turn = d.turn_id
JOIN turns u ON u.turn_id = d.turn_id
JOIN events h ON h.type = 'reply.held.v1' AND h.aggregate = 'delivery' AND h.aggregate_id = d.reply_id
JOIN mails m ON m.mail_id = u.mail_ids[cardinality(u.mail_ids)]
WHERE d.workspace = %(workspace)s AND d.state = 'draft' ORDER BY d.created_at;

-- name: held
-- One held draft, and the version of its thread that the person looks at.
SELECT d.thread_id, h.data ->> 'text' AS text, a.version AS thread_version FROM deliveries d
JOIN aggregates a ON a.workspace = d.workspace AND a.kind = 'thread' AND a.id = d.thread_id
JOIN events h ON h.type = 'reply.held.v1' AND h.aggregate = 'delivery' AND h.aggregate_id = d.reply_id
WHERE d.reply_id = %(reply_id)s AND d.state = 'draft';

-- name: state
SELECT state, detail FROM deliveries WHERE reply_id = %(reply_id)s;
