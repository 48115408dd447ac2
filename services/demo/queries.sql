-- name: mail
-- A mail with its outcome: the verdict, how its turn ended, or `attached` to a thread that a human has.
SELECT m.thread_id, m.participant_id, m.message_id, m.references_ids, m.author_name, m.author_addr, m.subject, m.text,
       m.identity, m.verdict, coalesce(th.state, '') AS thread_state, coalesce(p.state, '') AS participant_state,
       e.correlation_id,
       CASE WHEN m.verdict <> 'answer' THEN m.verdict
            WHEN t.outcome IS NOT NULL THEN t.outcome
            WHEN th.state = 'escalated' THEN 'attached'
            ELSE 'waiting' END AS outcome,
       CASE WHEN m.verdict <> 'answer' THEN m.reason ELSE coalesce(t.reason, '') END AS reason
FROM mails m
JOIN events e ON e.type = 'email.read.v1' AND e.aggregate = 'mail' AND e.aggregate_id = m.mail_id AND e.version IS NOT NULL
LEFT JOIN threads th USING (thread_id)
LEFT JOIN participants p ON p.participant_id = m.participant_id
LEFT JOIN LATERAL (SELECT u.outcome, u.reason FROM turns u
                   WHERE u.thread_id = m.thread_id AND m.mail_id = ANY(u.mail_ids)
                   ORDER BY u.opened_at DESC LIMIT 1) t ON true
WHERE m.mail_id = %(mail_id)s;

-- name: replies
-- What we sent because of this mail.
SELECT d.reply_id, d.message_id, d.recipient, s.data, s.time AS at FROM events s
JOIN deliveries d ON d.reply_id = s.aggregate_id
WHERE s.type = 'reply.sent.v1' AND s.correlation_id = %(correlation_id)s ORDER BY s.seq;

-- name: caused
-- The events of these types that came of this mail.
SELECT type, data FROM events
WHERE type = ANY(%(types)s) AND correlation_id = %(correlation_id)s ORDER BY seq;

-- name: facts_known
SELECT text || ' ' || value AS text FROM facts
WHERE participant_id = %(participant_id)s AND superseded_at IS NULL ORDER BY recorded_at;
