-- name: events
-- Everything that was stored, in the order of storing.
SELECT seq, id::text, type, time, topic, aggregate, aggregate_id::text, version, id IN (SELECT event_id FROM outbox) AS unpublished, data
FROM events ORDER BY seq;

-- name: journal
-- What each consumer has done.
SELECT consumer, event_id::text FROM journal;

-- name: aggregates
-- The version of every aggregate that has one.
SELECT kind, id::text, version FROM aggregates WHERE version > 0;

-- name: mails
SELECT mail_id::text, thread_id::text, message_id, author_addr, verdict FROM mails;

-- name: threads
SELECT thread_id::text, state, open_turn::text FROM threads;

-- name: turns
SELECT turn_id::text, thread_id::text, mail_ids::text[] AS mail_ids, outcome, reply_id::text FROM turns;

-- name: conversation
SELECT thread_id::text, version, mail_id::text, reply_id::text, text, pending FROM conversation;

-- name: deliveries
SELECT reply_id::text, thread_id::text, turn_id::text, state, message_id, recipient FROM deliveries;

-- name: thread_summaries
SELECT thread_id::text, participant_id::text, trusted, text FROM thread_summaries;

-- name: timers
SELECT id::text, due_at, event ->> 'purpose' AS purpose FROM timers;

-- name: approvals
SELECT approval_id::text, is_open FROM approvals;

-- name: outreach
SELECT outreach_id::text, state FROM outreach;

-- name: unsubscribes
SELECT participant_id::text FROM unsubscribes;

-- name: suppressions
SELECT addr FROM suppressions WHERE lifted_at IS NULL OR lifted_at < at;

-- name: trouble_reports
SELECT report_id::text, mail_id::text, incident_id::text FROM trouble_reports;
