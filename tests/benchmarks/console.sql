-- name: waiting
-- Every fiftieth thread needs a person: escalated, or with a draft that waits; some are somebody's, urgent, tagged or snoozed.
UPDATE threads t SET
    state = CASE WHEN n %% 50 = 0 THEN 'escalated' WHEN n %% 50 IN (1, 2) THEN 'in_progress' ELSE state END,
    open_turn = CASE WHEN n %% 50 = 1 THEN md5('turn' || 2 * n)::uuid END,
    assignee = CASE WHEN n %% 200 = 0 THEN 'Grace' ELSE '' END,
    priority = CASE WHEN n %% 100 = 0 THEN 'urgent' ELSE 'normal' END,
    tags = CASE WHEN n %% 1000 = 0 THEN '{invoices}'::text[] ELSE '{}' END,
    snoozed_until = CASE WHEN n %% 500 = 50 THEN %(until)s::timestamptz + interval '1 day' END
FROM generate_series(1, %(threads)s) n
WHERE t.thread_id = md5('thread' || n)::uuid AND (n %% 50 <= 2 OR n %% 100 = 0);

-- name: drafts
UPDATE deliveries d SET state = 'draft'
FROM generate_series(1, %(threads)s) n WHERE n %% 50 = 1 AND d.reply_id = md5('reply' || 2 * n)::uuid;

-- name: open_turns
UPDATE turns SET closed_at = NULL, outcome = NULL WHERE turn_id IN (SELECT turn_id FROM deliveries WHERE state = 'draft');

-- name: escalated
-- What an escalated thread's mails ask is a question that no document answered.
UPDATE turns t SET outcome = 'escalated' FROM threads h WHERE h.thread_id = t.thread_id AND h.state = 'escalated' AND t.closed_at IS NOT NULL;

-- name: versions
INSERT INTO aggregates (workspace, kind, id, version) SELECT workspace, 'thread', thread_id, 20 FROM threads;

-- name: held
-- What a held draft is: its event, here the golden example with other ids.
INSERT INTO events (id, workspace, topic, key, type, source, time, aggregate, aggregate_id, version, correlation_id, data,
                    stored_at, published_at)
SELECT md5('held' || reply_id)::uuid, workspace, 'deliveries', thread_id::text, 'reply.held.v1', 'send_email', created_at, 'delivery',
       reply_id, 1, turn_id,
       %(held)s::jsonb || jsonb_build_object('reply_id', reply_id, 'thread_id', thread_id, 'turn_id', turn_id),
       created_at, created_at
FROM deliveries WHERE state = 'draft';

-- name: told
-- What a draft was made from, and what the model decided: the golden examples with other ids.
INSERT INTO events (id, workspace, topic, key, type, source, time, correlation_id, data, stored_at, published_at)
SELECT md5(e.type || d.reply_id)::uuid, d.workspace, e.topic, d.thread_id::text, e.type, e.source, d.created_at, d.turn_id,
       e.data || jsonb_build_object('thread_id', d.thread_id, 'turn_id', d.turn_id, 'participant_id', t.participant_id)
              || CASE e.source WHEN 'generate_reply' THEN jsonb_build_object('reply_id', d.reply_id, 'model', 'a-model') ELSE '{}' END,
       d.created_at, d.created_at
FROM deliveries d JOIN threads t USING (thread_id) CROSS JOIN (VALUES
    ('memory-loaded', 'memory.loaded.v1', 'load_memory', %(loaded)s::jsonb),
    ('reply-drafted', 'reply.drafted.v1', 'generate_reply', %(drafted)s::jsonb)) e (topic, type, source, data)
WHERE d.state = 'draft';

-- name: passages
-- What is found by words: each customer's message, one in two hundred with a word that the others do not have.
INSERT INTO conversation_passages (passage_id, workspace, thread_id, version, part, text)
SELECT md5(format('%%s/%%s/0', c.thread_id, c.version))::uuid, c.workspace, c.thread_id, c.version, 0,
       c.text || CASE WHEN abs(hashtext(c.thread_id::text)) %% 200 = 0 THEN ' zebra' ELSE '' END
FROM conversation c WHERE c.role = 'customer';

-- name: investigations
-- One for each hundredth thread, closed, with a proposal that waits.
WITH asked AS (
    INSERT INTO investigations (investigation_id, participant_id, workspace, of_thread, state, question, by, opened_at, opened_version,
                                outcome, reason, note, rounds, tokens_in, tokens_out, closed_at)
    SELECT md5('case' || n)::uuid, md5('person' || (n + 1) / 2)::uuid, %(workspace)s, md5('thread' || n)::uuid, 'closed',
           'What did they ask before?', 'Grace', at, 1, 'done', 'all is answered', 'They asked for the export.', 3, 9000, 900,
           at + interval '1 minute'
    FROM generate_series(100, %(threads)s, 100) n, LATERAL (SELECT %(until)s::timestamptz - make_interval(mins => n) AS at) t
    RETURNING investigation_id, participant_id)
INSERT INTO investigation_proposals (proposal_id, investigation_id, participant_id, workspace, place, content)
SELECT md5('proposal' || investigation_id)::uuid, investigation_id, participant_id, %(workspace)s, 1,
       jsonb_build_object('kind', 'fact', 'key', 'plan', 'value', 'Team')
FROM asked;

-- name: restores
-- As many as are kept, and one that waits to be confirmed.
INSERT INTO restores (restore_id, workspace, at, by, asked_at, state, people, reached, changed, sample, ended_by, ended_at)
SELECT md5('restore' || n)::uuid, %(workspace)s, at, 'Grace', at, CASE n WHEN 1 THEN 'looked' ELSE 'done' END, %(threads)s / 2, %(threads)s / 2,
       12, ARRAY(SELECT md5('person' || k)::uuid FROM generate_series(1, 12) k), '', CASE WHEN n > 1 THEN at + interval '1 hour' END
FROM generate_series(1, 20) n, LATERAL (SELECT %(until)s::timestamptz - make_interval(days => n) AS at) t;

-- name: endpoints
INSERT INTO webhook_endpoints (endpoint_id, workspace, url, description, kinds, created_at, created_by, enabled_at)
SELECT md5('endpoint' || n)::uuid, %(workspace)s, 'https://hooks.example/' || n, 'Desk ' || n, '{thread.opened}', %(until)s, 'Grace', %(until)s
FROM generate_series(1, 10) n;

-- name: webhooks
-- What ten endpoints were told of each thread; one in a hundred waits.
INSERT INTO webhook_deliveries (webhook_id, endpoint_id, workspace, event_id, kind, thread_id, state, attempt, status, queued_at, due_at,
                                changed_at, version)
SELECT md5(format('webhook%%s/%%s', k, n))::uuid, md5('endpoint' || k)::uuid, %(workspace)s, md5('event' || n)::uuid, 'thread.opened',
       md5('thread' || n)::uuid, CASE n %% 100 WHEN 0 THEN 'waiting' ELSE 'delivered' END, 1, 200, at, at, at, n
FROM generate_series(1, %(threads)s) n, generate_series(1, 10) k,
     LATERAL (SELECT %(until)s::timestamptz - make_interval(mins => %(threads)s - n) AS at) t;

-- name: users
INSERT INTO users (user_id, workspace, name, name_key, email, role, invited_at, joined_at)
SELECT md5('user' || n)::uuid, %(workspace)s, 'Colleague ' || n, 'colleague ' || n, 'colleague' || n || '@desk.example', 'agent', %(until)s, %(until)s
FROM generate_series(1, 50) n;

-- name: teams
-- Fifty; the one that is timed has an inbox in which a fiftieth of all threads needs a person.
INSERT INTO teams (team_id, workspace, name, name_key, members, inboxes)
SELECT md5('team' || n)::uuid, %(workspace)s, name, lower(name), ARRAY(SELECT user_id FROM users ORDER BY name LIMIT n), '{support}'
FROM generate_series(1, 50) n, LATERAL (SELECT CASE n WHEN 1 THEN 'Billing' ELSE 'Team ' || n END AS name) t;

-- name: audit
-- An act for each thread.
INSERT INTO console_audit (audit_id, workspace, at, by, act, subject, status)
SELECT md5('act' || n)::uuid, %(workspace)s, %(until)s::timestamptz - make_interval(mins => n), 'Colleague ' || n %% 50 + 1, 'POST',
       '/console/threads/' || md5('thread' || n)::uuid || '/notes', 303
FROM generate_series(1, %(threads)s) n;

-- name: settings
-- A thousand changes.
INSERT INTO settings_changes (workspace, version, name, is_set, value, at, by, reason)
SELECT %(workspace)s, n, 'limits.thread_per_hour', true, to_jsonb(5 + n %% 2), %(until)s::timestamptz - make_interval(mins => 1000 - n),
       'Grace', 'tried'
FROM generate_series(1, 1000) n;

-- name: analyse
VACUUM ANALYZE threads, participants, mails, turns, conversation, conversation_passages, deliveries, thread_deadlines, investigations,
    investigation_proposals, restores, webhook_endpoints, webhook_deliveries, users, console_audit, settings_changes;

-- name: written
-- What filling left is on the disk before pages are timed.
CHECKPOINT;

-- name: a_draft
SELECT reply_id, thread_id FROM deliveries WHERE state = 'draft' ORDER BY created_at DESC LIMIT 1;

-- name: one_of_each
SELECT md5('case100')::uuid AS investigation, md5('restore1')::uuid AS restore, md5('endpoint1')::uuid AS endpoint,
       md5('team1')::uuid AS team;
