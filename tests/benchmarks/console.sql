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

-- name: passages
-- What is found by words: each customer's message, one in two hundred with a word that the others do not have.
INSERT INTO conversation_passages (passage_id, workspace, thread_id, version, part, text)
SELECT md5(format('%%s/%%s/0', c.thread_id, c.version))::uuid, c.workspace, c.thread_id, c.version, 0,
       c.text || CASE WHEN abs(hashtext(c.thread_id::text)) %% 200 = 0 THEN ' zebra' ELSE '' END
FROM conversation c WHERE c.role = 'customer';

-- name: analyse
VACUUM ANALYZE threads, participants, mails, turns, conversation, conversation_passages, deliveries, thread_deadlines;

-- name: a_draft
SELECT reply_id FROM deliveries WHERE state = 'draft' ORDER BY created_at DESC LIMIT 1;
