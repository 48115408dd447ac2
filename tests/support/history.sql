-- name: people
INSERT INTO participants (participant_id, workspace, addr, name, state, first_seen_at, last_seen_at)
SELECT md5('person' || n)::uuid, %(workspace)s, 'person' || n || '@example.org', 'Person ' || n, 'customer',
       %(until)s::timestamptz - make_interval(mins => %(mails)s - 4 * n),
       %(until)s::timestamptz - make_interval(mins => %(mails)s - 4 * n)
FROM generate_series(%(done)s / 4 + 1, %(mails)s / 4) n;

-- name: threads
INSERT INTO threads (thread_id, workspace, participant_id, inbox, subject, state, opened_at, changed_at)
SELECT md5('thread' || n)::uuid, %(workspace)s, md5('person' || (n + 1) / 2)::uuid, 'support', 'Question ' || n,
       CASE n %% 3 WHEN 0 THEN 'awaiting_reply' WHEN 1 THEN 'resolved' ELSE 'closed' END,
       %(until)s::timestamptz - make_interval(mins => %(mails)s - 2 * n),
       %(until)s::timestamptz - make_interval(mins => %(mails)s - 2 * n)
FROM generate_series(%(done)s / 2 + 1, %(mails)s / 2) n;

-- name: mails
INSERT INTO mails (mail_id, workspace, thread_id, participant_id, inbox, mode, blob, message_id, content_sha256, subject,
                   author_name, author_addr, author_written, recipients, references_ids, received_at, text, language, identity, trusted,
                   verdict, reason, filter, flags)
SELECT md5('mail' || n)::uuid, %(workspace)s, md5('thread' || (n + 1) / 2)::uuid, md5('person' || (n + 3) / 4)::uuid, 'support', 'live',
       md5('blob' || n), 'm' || n || '@example.org', md5('content' || n), 'Question ' || (n + 1) / 2, 'Person',
       'person' || (n + 3) / 4 || '@example.org', 'person' || (n + 3) / 4 || '@example.org', '{support@example.com}', '{}',
       %(until)s::timestamptz - make_interval(mins => %(mails)s - n),
       repeat('The export stops after some rows, please help. ', 8), 'en', 'authenticated', true, 'answer', 'a person asks', '', '{}'
FROM generate_series(%(done)s + 1, %(mails)s) n;

-- name: turns
INSERT INTO turns (turn_id, workspace, thread_id, mail_ids, opened_at, waiting_since, outcome, reply_id, closed_at, version)
SELECT md5('turn' || n)::uuid, %(workspace)s, md5('thread' || (n + 1) / 2)::uuid, ARRAY[md5('mail' || n)::uuid], at, at, 'sent',
       md5('reply' || n)::uuid, at + interval '20 seconds', 4
FROM generate_series(%(done)s + 1, %(mails)s) n, LATERAL (SELECT %(until)s::timestamptz - make_interval(mins => %(mails)s - n) AS at) t;

-- name: conversation
INSERT INTO conversation (thread_id, version, workspace, role, mail_id, reply_id, text, tokens, trusted, at)
SELECT md5('thread' || (n + 1) / 2)::uuid, n %% 2 * 10 + role, %(workspace)s, CASE role WHEN 1 THEN 'customer' ELSE 'agent' END,
       CASE role WHEN 1 THEN md5('mail' || n)::uuid END, CASE role WHEN 2 THEN md5('reply' || n)::uuid END,
       repeat('The export stops after some rows, please help. ', 8), 80, true,
       %(until)s::timestamptz - make_interval(mins => %(mails)s - n)
FROM generate_series(%(done)s + 1, %(mails)s) n, generate_series(1, 2) role;

-- name: deliveries
INSERT INTO deliveries (reply_id, workspace, thread_id, turn_id, inbox, state, message_id, recipient, created_at, changed_at)
SELECT md5('reply' || n)::uuid, %(workspace)s, md5('thread' || (n + 1) / 2)::uuid, md5('turn' || n)::uuid, 'support', 'sent',
       'r' || n || '@example.com', 'person' || (n + 3) / 4 || '@example.org', at, at + interval '20 seconds'
FROM generate_series(%(done)s + 1, %(mails)s) n, LATERAL (SELECT %(until)s::timestamptz - make_interval(mins => %(mails)s - n) AS at) t;

-- name: deadlines
INSERT INTO thread_deadlines (thread_id, kind, workspace, status, since, allowed_s, due_at, priority, reason, at)
SELECT md5('thread' || n)::uuid, 'resolution', %(workspace)s, 'met', at, 3600, at + interval '1 hour', 'normal', '', at
FROM generate_series(%(done)s / 2 + 1, %(mails)s / 2) n,
     LATERAL (SELECT %(until)s::timestamptz - make_interval(mins => %(mails)s - 2 * n) AS at) t;

-- name: alerts
INSERT INTO alerts (alert_id, channel_id, workspace, call_id, thread_id, kind, raised_at, digest_id)
SELECT md5('alert' || n)::uuid, md5('channel')::uuid, %(workspace)s, md5('call' || n)::uuid, md5('thread' || n)::uuid, 'escalated',
       %(until)s::timestamptz - make_interval(mins => %(mails)s - 2 * n), md5('digest' || n)::uuid
FROM generate_series(%(done)s / 2 + 1, %(mails)s / 2) n;

-- name: events
-- Ten events a mail, as a mail that was answered leaves them.
INSERT INTO events (id, workspace, topic, key, type, source, time, aggregate, aggregate_id, version, correlation_id, causation_id,
                    data, stored_at, published_at)
SELECT md5('event' || n || '/' || k.place)::uuid, %(workspace)s, k.topic,
       CASE k.topic WHEN 'inbound-email.raw' THEN md5('mail' || n)::uuid ELSE md5('thread' || (n + 1) / 2)::uuid END::text,
       k.type, k.source, at + make_interval(secs => k.place), k.aggregate,
       CASE k.aggregate WHEN 'mail' THEN md5('mail' || n)::uuid WHEN 'delivery' THEN md5('reply' || n)::uuid
                        WHEN 'thread' THEN md5('thread' || (n + 1) / 2)::uuid END,
       CASE WHEN k.aggregate = 'thread' THEN (n + 1) %% 2 * 10 + k.place WHEN k.aggregate IS NOT NULL THEN k.place END,
       md5('mail' || n)::uuid, md5('event' || n || '/' || k.place - 1)::uuid,
       jsonb_build_object('mail_id', md5('mail' || n)::uuid, 'inbox', 'support', 'thread_id', md5('thread' || (n + 1) / 2)::uuid,
                          'text', repeat('The export stops after some rows, please help. ', 6)),
       at + make_interval(secs => k.place), at + make_interval(secs => k.place + 1)
FROM generate_series(%(done)s + 1, %(mails)s) n,
     LATERAL (SELECT %(until)s::timestamptz - make_interval(mins => %(mails)s - n) AS at) t,
     (VALUES (1, 'inbound-email.raw', 'mail.received.v1', 'receive_email', NULL),
             (2, 'inbound-email', 'email.read.v1', 'read_email', 'mail'),
             (3, 'thread-events', 'thread.state_changed.v1', 'track_threads', 'thread'),
             (4, 'turns', 'turn.opened.v1', 'track_threads', 'thread'),
             (5, 'memory-loaded', 'memory.loaded.v1', 'load_memory', NULL),
             (6, 'reply-drafted', 'reply.drafted.v1', 'generate_reply', NULL),
             (7, 'deliveries', 'reply.sending.v1', 'send_email', 'delivery'),
             (8, 'deliveries', 'reply.sent.v1', 'send_email', 'delivery'),
             (9, 'turns', 'turn.closed.v1', 'track_threads', 'thread'),
             (10, 'turn-reflected', 'turn.reflected.v1', 'reflect', NULL)) AS k (place, topic, type, source, aggregate)
ORDER BY n, k.place;

-- name: journal
INSERT INTO journal (consumer, event_id, event_day)
SELECT c.consumer, e.id, (e.time AT TIME ZONE 'UTC')::date
FROM events e JOIN unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer) USING (topic)
WHERE e.seq > %(after)s;

-- name: last_seq
SELECT coalesce(max(seq), 0) AS seq FROM events;

-- name: days
SELECT DISTINCT (time AT TIME ZONE 'UTC')::date AS day FROM events;
