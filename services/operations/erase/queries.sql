-- name: keys
-- The keys that go when one of these people does.
SELECT key_id, owners FROM subject_keys WHERE workspace = %(workspace)s AND owners && %(people)s::uuid[];

-- name: own_events
-- What is sealed with some keys, and what is about some people and was stored before there were keys.
SELECT * FROM events WHERE (data ? '$key' AND data ->> '$key' = ANY(%(keys)s))
   OR (workspace = %(workspace)s AND data_subject = ANY(%(people)s) AND NOT data ? '$key'
       AND type <> 'participant.erased.v1')
ORDER BY seq;

-- name: history
-- Everything that is stored, of every workspace, in order.
SELECT * FROM events WHERE seq > %(after)s ORDER BY seq LIMIT %(limit)s;

-- name: product_words
-- What the database itself is full of: names of its objects and what they are for. Nobody's words are in it.
SELECT coalesce(string_agg(DISTINCT name, ' '), '') AS words FROM (
    SELECT proname::text FROM pg_proc UNION ALL SELECT relname::text FROM pg_class
    UNION ALL SELECT attname::text FROM pg_attribute UNION ALL SELECT description FROM pg_description
    UNION ALL SELECT name FROM pg_settings UNION ALL SELECT collname::text FROM pg_collation
) AS own (name);

-- name: tables_of_people
-- Every table whose rows name a participant, but for the list of whom we erased.
SELECT c.relname::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE a.attname = 'participant_id' AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'erasures'
ORDER BY 1;

-- name: rows_of_people
SELECT count(*) AS count FROM {table} WHERE participant_id = ANY(%(people)s);

-- name: keys_of_people
SELECT count(*) AS count FROM subject_keys WHERE owners && %(people)s::uuid[];

-- name: threads_of
-- The threads in which these people wrote, or which are theirs.
SELECT thread_id FROM mails WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s)
UNION SELECT thread_id FROM threads WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s);

-- name: places_of_threads
-- What is kept of some threads, by aggregate.
SELECT 'mail' AS kind, mail_id AS id FROM mails WHERE thread_id = ANY(%(threads)s)
UNION SELECT 'delivery', reply_id FROM deliveries WHERE thread_id = ANY(%(threads)s)
UNION SELECT 'thread', thread_id FROM threads WHERE thread_id = ANY(%(threads)s)
UNION SELECT 'summary', thread_id FROM thread_summaries WHERE thread_id = ANY(%(threads)s);

-- name: shared_threads
-- Those of them in which others wrote too, with the turn that is open.
SELECT DISTINCT m.thread_id, t.open_turn FROM mails m LEFT JOIN threads t USING (thread_id)
WHERE m.thread_id = ANY(%(threads)s) AND m.participant_id IS NOT NULL AND m.participant_id <> ALL(%(people)s)
  AND m.verdict IN ('answer', 'human');

-- name: suppressed
-- Whether these addresses get no mail, and why.
SELECT addr, reason, at FROM suppressions
WHERE workspace = %(workspace)s AND addr = ANY(%(addresses)s) AND lifted_at IS NULL;

-- name: keep_suppressed
INSERT INTO erased_suppressions (workspace, mark, reason, at) VALUES (%(workspace)s, %(mark)s, %(reason)s, %(at)s)
ON CONFLICT DO NOTHING;

-- name: keep_blank
-- Others go on in these threads: what is left of the events up to now still counts.
INSERT INTO blanked_threads (workspace, thread_id, upto)
SELECT a.workspace, a.id, a.version FROM aggregates a
WHERE a.workspace = %(workspace)s AND a.kind = 'thread' AND a.id = ANY(%(threads)s)
ON CONFLICT (workspace, thread_id) DO UPDATE SET upto = excluded.upto;

-- name: keep_nothing
DELETE FROM blanked_threads WHERE workspace = %(workspace)s AND thread_id = ANY(%(threads)s);

-- name: lock_aggregates
-- Held until the end: no unit of work decides about them meanwhile.
SELECT a.kind, a.id, a.version FROM aggregates a
JOIN unnest(%(kinds)s::text[], %(ids)s::uuid[]) AS w (kind, id) USING (kind, id)
WHERE a.workspace = %(workspace)s ORDER BY a.kind, a.id FOR UPDATE OF a;

-- name: forget_versions
UPDATE aggregates a SET version = 0 FROM unnest(%(kinds)s::text[], %(ids)s::uuid[]) AS w (kind, id)
WHERE a.workspace = %(workspace)s AND a.kind = w.kind AND a.id = w.id;

-- name: events_of
-- What the table holds of some aggregates.
SELECT e.* FROM unnest(%(kinds)s::text[], %(ids)s::uuid[]) AS w (kind, id)
JOIN events e ON e.workspace = %(workspace)s AND e.aggregate = w.kind AND e.aggregate_id = w.id
WHERE e.version IS NOT NULL;

-- name: set_vectors_aside
SELECT fact_id, text, embedding, embedding_model INTO TEMP vectors_aside FROM facts
WHERE participant_id = ANY(%(people)s) AND embedding IS NOT NULL;

-- name: put_vectors_back
UPDATE facts f SET embedding = a.embedding, embedding_model = a.embedding_model
FROM vectors_aside a WHERE a.fact_id = f.fact_id AND a.text = f.text;

-- name: drop_vectors_aside
DROP TABLE vectors_aside;

-- name: blanked
SELECT thread_id, upto FROM blanked_threads WHERE workspace = %(workspace)s;

-- name: keep_archived
INSERT INTO resealed_events (event_id, workspace, data) VALUES (%(id)s, %(workspace)s, %(data)s)
ON CONFLICT (event_id) DO UPDATE SET data = excluded.data;

-- name: columns
-- Which of the columns by which an aggregate's rows are found a table has.
SELECT table_name AS name, array_agg(column_name::text) AS columns FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = ANY(%(tables)s)
  AND column_name IN ('mail_id', 'thread_id', 'reply_id', 'participant_id', 'document_id', 'channel_id', 'approval_id',
                      'board_id', 'book_id', 'endpoint_id')
GROUP BY table_name;

-- name: forget_receipts
-- A mail that is offered again is not let in again; but a hash of what it said is not kept.
UPDATE receipts SET fingerprint = '' WHERE mail_id = ANY(%(mails)s);

-- name: forget_uses
DELETE FROM fact_uses WHERE participant_id = ANY(%(people)s);

-- name: begin_erasure
INSERT INTO erasures (erasure_id, workspace, participant_id, by, at, blobs, cached, threads)
VALUES (%(erasure_id)s, %(workspace)s, %(participant_id)s, %(by)s, %(at)s, %(blobs)s, %(cached)s, %(threads)s)
ON CONFLICT DO NOTHING;

-- name: unfinished
SELECT erasure_id, blobs, cached FROM erasures WHERE workspace = %(workspace)s AND finished_at IS NULL;

-- name: finish_erasure
UPDATE erasures SET finished_at = %(at)s, blobs = '{}', cached = '{}' WHERE erasure_id = %(erasure_id)s;

-- name: wait_for_disk
-- A rebuild need not wait for the disk; an erase must.
SELECT set_config('synchronous_commit', 'on', true);

-- name: person
-- Everybody who is the same person as some participants, with their addresses where they are known.
SELECT DISTINCT one AS participant_id, p.addr, p.space FROM unnest(%(ids)s::uuid[]) AS named, unnest(person_ids(named)) AS one
LEFT JOIN participants p ON p.workspace = %(workspace)s AND p.participant_id = one;

-- name: spaces
-- The spaces of memory that a mail was ever part of, but for the shared one.
SELECT DISTINCT space FROM mails WHERE workspace = %(workspace)s AND space <> '';

-- name: inventory
-- How much there is of some people, in words of the operator.
SELECT (SELECT count(*) FROM mails WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s)) AS mails,
       (SELECT count(*) FROM threads WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s)) AS threads,
       (SELECT count(*) FROM facts WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s)) AS facts,
       (SELECT count(*) FROM deliveries d JOIN threads t USING (thread_id)
        WHERE t.workspace = %(workspace)s AND t.participant_id = ANY(%(people)s)) AS replies;

-- name: kept_under
-- Whether mails of one participant were stored under another's id, and whether that one has mails of their own.
SELECT EXISTS (SELECT FROM mails m JOIN events e ON e.aggregate = 'mail' AND e.aggregate_id = m.mail_id AND e.version IS NOT NULL
               WHERE m.workspace = %(workspace)s AND m.participant_id = %(own)s AND e.data_subject = %(former)s) AS stored,
       EXISTS (SELECT FROM mails
               WHERE workspace = %(workspace)s AND participant_id = %(former)s) AS shared;
