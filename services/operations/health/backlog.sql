-- name: waiting
-- What waits in a workspace, counted: mails nobody has read, mails whose turn has not ended, drafts that a person must
-- decide, replies that may or may not have been sent, replies of the last week whose copy in Sent was given up, events
-- not yet on the log, timers that nobody has fired. Each part reads what waits, and nothing of what is done; what a consumer
-- gave up is a dead letter, and counted as such alone.
SELECT (SELECT count(*) FROM not_done(ARRAY['inbound-email.raw'], ARRAY['read_email'], %(low)s) n JOIN events e ON e.id = n.event_id
          WHERE e.type = 'mail.received.v1' AND e.workspace = %(workspace)s
            AND NOT EXISTS (SELECT FROM dead_letter_places p WHERE p.event_id = n.event_id AND p.consumer = n.consumer AND NOT p.decided)) AS unread,
       (SELECT count(*) FROM conversation c JOIN mails m ON m.mail_id = c.mail_id
          WHERE c.pending AND c.workspace = %(workspace)s AND m.verdict = 'answer' AND m.mode <> 'history'
            AND NOT EXISTS (SELECT FROM turns t WHERE t.thread_id = c.thread_id AND c.mail_id = ANY(t.mail_ids)
                            AND t.closed_at IS NOT NULL))
       + (SELECT count(*) FROM not_done(ARRAY['inbound-email'], ARRAY['track_threads'], %(low)s) n JOIN events e ON e.id = n.event_id
          JOIN mails m ON m.mail_id = e.aggregate_id
          WHERE e.type = 'email.read.v1' AND m.workspace = %(workspace)s AND m.verdict = 'answer' AND m.mode <> 'history'
            AND NOT EXISTS (SELECT FROM dead_letter_places p WHERE p.event_id = n.event_id AND p.consumer = n.consumer AND NOT p.decided)
            AND NOT EXISTS (SELECT FROM conversation c WHERE c.thread_id = m.thread_id AND c.mail_id = m.mail_id)) AS unanswered,
       (SELECT count(*) FROM turns u JOIN deliveries d ON d.turn_id = u.turn_id JOIN threads t ON t.open_turn = u.turn_id AND t.thread_id = d.thread_id
          WHERE u.closed_at IS NULL AND d.workspace = %(workspace)s AND d.state = 'draft') AS held,
       (SELECT count(*) FROM threads t WHERE t.workspace = %(workspace)s AND t.state = 'escalated') AS escalated,
       (SELECT count(*) FROM thread_deadlines t WHERE t.workspace = %(workspace)s AND t.status = 'breached') AS missed,
       (SELECT count(*) FROM deliveries d WHERE d.workspace = %(workspace)s AND d.state = 'unknown') AS unknown,
       (SELECT count(*) FROM deliveries d WHERE d.workspace = %(workspace)s AND d.sent_copy = 'missing'
          AND d.changed_at > %(now)s - interval '7 days') AS uncopied,
       (SELECT count(*) FROM outbox WHERE attempts = 0 AND next_attempt <= clock_timestamp()) AS unpublished,
       (SELECT count(*) FROM outbox WHERE attempts > 0) AS refused,
       (SELECT count(*) FROM timers WHERE workspace = %(workspace)s
          AND due_at < %(now)s - interval '1 minute') AS overdue;

-- name: responses
-- Of the last week: how many replies left, half of them and nine of ten within how many seconds of the oldest mail that
-- they answer, and how many deadlines were met or missed.
SELECT a.sent, a.half_s, a.most_s, b.met, b.missed FROM
    (SELECT count(*) AS sent, percentile_cont(0.5) WITHIN GROUP (ORDER BY w.s) AS half_s,
            percentile_cont(0.9) WITHIN GROUP (ORDER BY w.s) AS most_s
     FROM (SELECT extract(epoch FROM greatest(d.sent_at - u.waiting_since, interval '0'))::float AS s
           FROM deliveries d JOIN turns u USING (turn_id)
           WHERE d.workspace = %(workspace)s AND d.sent_at > %(now)s - interval '7 days') w) a,
    (SELECT count(*) FILTER (WHERE status = 'met') AS met, count(*) FILTER (WHERE status = 'missed') AS missed
     FROM thread_deadlines WHERE workspace = %(workspace)s AND ended_at > %(now)s - interval '7 days') b;

-- name: open_turns
-- Turns that have been open for long, oldest first.
SELECT u.thread_id, u.opened_at, t.subject, t.state FROM turns u JOIN threads t USING (thread_id)
WHERE u.workspace = %(workspace)s AND u.closed_at IS NULL
  AND u.opened_at < %(now)s - make_interval(secs => %(minutes)s * 60)
ORDER BY u.opened_at LIMIT 50;
