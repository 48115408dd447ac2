-- name: waiting
-- What waits in a workspace, counted: mails nobody has read, mails whose turn has not ended, drafts that a person must
-- decide, replies that may or may not have been sent, replies of the last week whose copy in Sent was given up, events
-- not yet on the log, timers that nobody has fired.
SELECT (SELECT count(*) FROM events e WHERE e.type = 'mail.received.v1' AND e.workspace = %(workspace)s
          AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.consumer = 'read_email' AND j.event_id = e.id
                          AND j.event_day = (e.time AT TIME ZONE 'UTC')::date)) AS unread,
       (SELECT count(*) FROM mails m WHERE m.workspace = %(workspace)s AND m.verdict = 'answer' AND m.mode <> 'history'
          AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.thread_id = m.thread_id AND m.mail_id = ANY(t.mail_ids)
                          AND t.closed_at IS NOT NULL)) AS unanswered,
       (SELECT count(*) FROM deliveries d JOIN threads t ON t.thread_id = d.thread_id AND t.open_turn = d.turn_id
          WHERE d.workspace = %(workspace)s AND d.state = 'draft') AS held,
       (SELECT count(*) FROM threads t WHERE t.workspace = %(workspace)s AND t.state = 'escalated') AS escalated,
       (SELECT count(*) FROM thread_deadlines t WHERE t.workspace = %(workspace)s AND t.status = 'breached') AS missed,
       (SELECT count(*) FROM deliveries d WHERE d.workspace = %(workspace)s AND d.state = 'unknown') AS unknown,
       (SELECT count(*) FROM deliveries d WHERE d.workspace = %(workspace)s AND d.sent_copy = 'missing'
          AND d.changed_at > %(now)s - interval '7 days') AS uncopied,
       (SELECT count(*) FROM events WHERE published_at IS NULL
          AND stored_at < %(now)s - interval '5 seconds') AS unpublished,
       (SELECT count(*) FROM timers WHERE workspace = %(workspace)s
          AND due_at < %(now)s - interval '1 minute') AS overdue;

-- name: open_turns
-- Turns that have been open for long, oldest first.
SELECT u.thread_id, u.opened_at, t.subject, t.state FROM turns u JOIN threads t USING (thread_id)
WHERE u.workspace = %(workspace)s AND u.closed_at IS NULL
  AND u.opened_at < %(now)s - make_interval(secs => %(minutes)s * 60)
ORDER BY u.opened_at LIMIT 50;
