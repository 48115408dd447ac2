-- name: waiting
-- Held drafts whose turn is still open, oldest first, of one id where it is given: the event with the text, and the version of
-- the thread that a person now looks at. A page of them is found first, and what it shows read for it alone.
SELECT d.reply_id, d.thread_id, d.created_at, d.detail AS reason, h.data,
       a.version AS thread_version, m.subject, coalesce(nullif(m.author_written, ''), m.author_addr) AS recipient,
       m.identity AS sender_level
FROM (SELECT d.* FROM deliveries d
      WHERE d.workspace = %(workspace)s AND d.state = 'draft'
        AND (SELECT true FROM turns u JOIN threads t ON t.thread_id = u.thread_id AND t.open_turn = u.turn_id
             WHERE u.turn_id = d.turn_id AND u.closed_at IS NULL AND t.thread_id = d.thread_id)
        AND (SELECT true FROM events e WHERE e.workspace = d.workspace AND e.aggregate = 'delivery' AND e.aggregate_id = d.reply_id
             AND e.version IS NOT NULL AND e.type = 'reply.held.v1' LIMIT 1)
        AND (%(reply_id)s::uuid IS NULL OR d.reply_id = %(reply_id)s)
        AND (d.created_at, d.reply_id) > (%(after_created_at)s::timestamptz, %(after_reply_id)s::uuid)
      ORDER BY d.created_at, d.reply_id LIMIT %(limit)s) d
JOIN turns u ON u.turn_id = d.turn_id
JOIN aggregates a ON a.workspace = d.workspace AND a.kind = 'thread' AND a.id = d.thread_id
JOIN LATERAL (SELECT e.data FROM events e WHERE e.workspace = d.workspace AND e.aggregate = 'delivery' AND e.aggregate_id = d.reply_id
              AND e.version IS NOT NULL AND e.type = 'reply.held.v1' ORDER BY e.version DESC LIMIT 1) h ON true
JOIN mails m ON m.mail_id = u.mail_ids[cardinality(u.mail_ids)]
ORDER BY d.created_at, d.reply_id;

-- name: drafted
-- What the model drafted in some threads, the passages that it cites among it.
SELECT data FROM events WHERE type = 'reply.drafted.v1' AND key = ANY(%(threads)s);

-- name: state
SELECT state, detail FROM deliveries WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s;

-- name: past
-- A reply with what was held of it, and how its turn ended.
SELECT d.reply_id, d.thread_id, d.state, d.detail, coalesce(u.outcome, '') AS outcome,
       (SELECT e.data FROM events e WHERE e.workspace = d.workspace AND e.aggregate = 'delivery' AND e.aggregate_id = d.reply_id
        AND e.version IS NOT NULL AND e.type = 'reply.held.v1' ORDER BY e.version DESC LIMIT 1) AS data
FROM deliveries d LEFT JOIN turns u USING (turn_id) WHERE d.workspace = %(workspace)s AND d.reply_id = %(reply_id)s;
