-- name: unfinished
-- Events that are not on the log yet, or that a consumer of their topic has not journaled, but for discarded dead letters;
-- and timers that come due within the horizon.
SELECT (SELECT count(*) FROM events e
        JOIN unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer) USING (topic)
        WHERE (e.published_at IS NULL
               OR NOT EXISTS (SELECT 1 FROM journal j WHERE j.consumer = c.consumer AND j.event_id = e.id
                              AND j.event_day = (e.time AT TIME ZONE 'UTC')::date))
          AND NOT EXISTS (SELECT 1 FROM letter_decisions d WHERE d.consumer = c.consumer AND d.event_id = e.id
                          AND d.state = 'discarded')) AS events,
       (SELECT count(*) FROM timers WHERE due_at <= %(until)s) AS timers;

-- name: outcomes
-- What became of each mail: its verdict, or how its last turn ended; mails that nobody has read yet too, and those whose
-- events are archived.
WITH arrived AS (
    SELECT seq, time, data ->> 'inbox' AS inbox, (data ->> 'mail_id')::uuid AS mail_id FROM events
    WHERE type = 'mail.received.v1' AND workspace = %(workspace)s),
received AS (
    SELECT * FROM arrived
    UNION ALL
    SELECT 0, received_at, inbox, mail_id FROM mails
    WHERE workspace = %(workspace)s AND mail_id NOT IN (SELECT mail_id FROM arrived))
SELECT r.time AS received_at, r.inbox, r.mail_id,
       m.author_addr, m.subject, m.thread_id, m.identity, m.filter,
       CASE WHEN m.mail_id IS NULL THEN 'received'
            WHEN m.verdict <> 'answer' THEN m.verdict
            WHEN t.turn_id IS NULL THEN 'waiting'
            ELSE coalesce(t.outcome, 'being answered') END AS outcome,
       CASE WHEN m.verdict <> 'answer' THEN m.reason
            WHEN t.outcome = 'sent' THEN 'a reply was sent'
            ELSE coalesce(nullif(t.reason, ''), '') END AS reason
FROM received r
LEFT JOIN mails m USING (mail_id)
LEFT JOIN LATERAL (SELECT u.turn_id, u.outcome, u.reason FROM turns u
                   WHERE u.thread_id = m.thread_id AND m.mail_id = ANY(u.mail_ids)
                   ORDER BY u.opened_at DESC, u.closed_at DESC NULLS FIRST LIMIT 1) t ON true
WHERE %(thread_id)s::uuid IS NULL OR m.thread_id = %(thread_id)s
ORDER BY r.time DESC, r.seq DESC LIMIT %(limit)s;
