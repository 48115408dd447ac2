-- name: unfinished
-- By consumer, how many events after `since` are not on the log yet, or that it has a handler for and has not journaled, but
-- for discarded dead letters; as `the log`, those on their way to a topic without consumers; and, as `timers`, those that come
-- due within the horizon.
SELECT left_to_do.consumer, count(*) AS count FROM (
    SELECT n.consumer, n.event_id
    FROM left_to_do(%(topics)s::text[], %(consumers)s::text[], %(skipped)s::text[], %(low)s) n
    WHERE n.seq > %(since)s
    UNION
    SELECT c.consumer, o.event_id FROM outbox o JOIN events e ON e.id = o.event_id AND e.seq > %(since)s
    JOIN unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer) USING (topic)
    WHERE NOT EXISTS (SELECT FROM letter_decisions d WHERE d.consumer = c.consumer AND d.event_id = o.event_id
                      AND d.state = 'discarded')
    UNION
    SELECT 'the log', o.event_id FROM outbox o JOIN events e ON e.id = o.event_id AND e.seq > %(since)s
    WHERE o.attempts = 0 AND e.topic <> ALL (%(topics)s::text[])) AS left_to_do
GROUP BY left_to_do.consumer
UNION ALL
SELECT 'timers', count(*) FROM timers WHERE due_at <= %(until)s HAVING count(*) > 0;

-- name: newest
SELECT coalesce(max(seq), 0) AS seq FROM events;

-- name: outcomes
-- What became of each mail, the newest first: its verdict, how its last turn ended or what that waits for, and when it was
-- answered; mails that nobody has read yet too (their events are not done, or a person discarded the dead letter), and those
-- whose events are archived.
WITH received AS (
    (SELECT m.received_at, m.inbox, m.mail_id FROM mails m
     WHERE m.workspace = %(workspace)s AND (%(thread_id)s::uuid IS NULL OR m.thread_id = %(thread_id)s)
       AND (m.received_at, m.mail_id) < (%(after_received_at)s::timestamptz, %(after_mail_id)s::uuid)
     ORDER BY m.received_at DESC, m.mail_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT e.time, e.data ->> 'inbox', (e.data ->> 'mail_id')::uuid
     FROM (SELECT n.event_id FROM not_done(ARRAY['inbound-email.raw'], ARRAY['read_email'], %(low)s) n
           UNION SELECT d.event_id FROM letter_decisions d WHERE d.consumer = 'read_email' AND d.state = 'discarded') u
     JOIN events e ON e.id = u.event_id
     WHERE e.type = 'mail.received.v1' AND e.workspace = %(workspace)s AND %(thread_id)s::uuid IS NULL
       AND (e.time, (e.data ->> 'mail_id')::uuid) < (%(after_received_at)s::timestamptz, %(after_mail_id)s::uuid)
       AND NOT EXISTS (SELECT FROM mails m WHERE m.mail_id = (e.data ->> 'mail_id')::uuid)
     ORDER BY e.time DESC, 3 DESC LIMIT %(limit)s))
SELECT r.received_at, r.inbox, r.mail_id,
       m.author_addr, m.subject, m.thread_id, m.identity, m.filter,
       CASE WHEN m.mail_id IS NULL THEN 'received'
            WHEN m.verdict <> 'answer' THEN m.verdict
            WHEN t.turn_id IS NULL THEN 'waiting'
            WHEN t.outcome IS NULL AND d.state = 'draft' THEN 'draft'
            WHEN t.outcome = 'failed' AND d.state = 'sent' THEN 'sent'  -- it is known by now that it had left
            ELSE coalesce(t.outcome, 'being answered') END AS outcome,
       CASE WHEN m.verdict <> 'answer' THEN m.reason
            WHEN t.outcome = 'sent' THEN 'a reply was sent'
            WHEN t.outcome = 'failed' AND d.state = 'sent' THEN concat_ws(': ', 'a reply was sent', nullif(d.detail, ''))
            WHEN t.outcome IS NULL AND d.state = 'approved' AND d.retry_at IS NOT NULL
                THEN format('tried again at %%s UTC: %%s', to_char(d.retry_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), d.detail)
            ELSE coalesce(nullif(t.reason, ''), '') END AS reason,
       CASE WHEN t.outcome IS NULL AND d.state = 'draft' THEN d.reply_id END AS draft_id,
       CASE WHEN t.outcome = 'sent' OR t.outcome = 'failed' AND d.state = 'sent' THEN d.sent_at
            WHEN t.outcome = 'human_took_over' THEN h.at END AS answered_at
FROM received r
LEFT JOIN mails m USING (mail_id)
LEFT JOIN LATERAL (SELECT u.turn_id, u.outcome, u.reason FROM turns u
                   WHERE u.thread_id = m.thread_id AND m.mail_id = ANY(u.mail_ids)
                   ORDER BY u.opened_at DESC, u.closed_at DESC NULLS FIRST LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT d.reply_id, d.state, d.retry_at, d.detail, d.sent_at FROM deliveries d
                   WHERE d.turn_id = t.turn_id ORDER BY d.created_at DESC LIMIT 1) d ON true
LEFT JOIN LATERAL (SELECT min(c.at) AS at FROM conversation c
                   WHERE c.thread_id = m.thread_id AND c.role = 'human' AND c.at >= r.received_at) h ON true
ORDER BY r.received_at DESC, r.mail_id DESC LIMIT %(limit)s;
