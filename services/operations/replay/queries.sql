-- name: event
SELECT * FROM events WHERE id = %(id)s;

-- name: starts
-- Events that a replay begins with, in the order in which they were stored. A null filters nothing. A mail that was not read
-- yet does not say whose it is: what came of it does.
SELECT id, time, key FROM events
WHERE workspace = %(workspace)s AND type = ANY(%(types)s)
  AND (%(event)s::uuid IS NULL OR id = %(event)s)
  AND (%(correlation)s::uuid IS NULL OR correlation_id = %(correlation)s)
  AND (%(thread)s::text IS NULL OR data ->> 'thread_id' = %(thread)s OR id IN (
      SELECT causation_id FROM events WHERE type = 'email.read.v1' AND key = %(thread)s))
  AND (%(participant)s::uuid IS NULL OR data_subject = %(participant)s OR id IN (
      SELECT causation_id FROM events WHERE type = 'email.read.v1' AND data_subject = %(participant)s))
  AND (%(since)s::timestamptz IS NULL OR time >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR time < %(until)s)
ORDER BY seq;

-- name: caused
-- What a processor recorded because of some events.
SELECT * FROM events WHERE causation_id = ANY(%(causes)s) AND source = %(source)s ORDER BY seq;

-- name: stored_with
-- The last event that was stored in one transaction with this one.
SELECT max(seq) AS seq FROM events e
WHERE e.id = %(id)s OR (e.causation_id = %(causation_id)s AND e.source = %(source)s AND e.time = %(time)s);

-- name: stored_meanwhile
-- The last event that was stored before a consumer was done with one; no row where the journal forgot it.
SELECT coalesce((SELECT seq - 1 FROM events WHERE seq > %(sure)s AND stored_at > j.done_at ORDER BY seq LIMIT 1),
                (SELECT max(seq) FROM events)) AS seq
FROM journal j WHERE consumer = %(consumer)s AND event_id = %(event_id)s AND event_day = %(event_day)s;

-- name: unsure
-- What was recorded about these threads and people while a step was running, and is not the case's own.
SELECT id, seq FROM events
WHERE seq > %(sure)s AND seq <= %(upto)s AND version IS NOT NULL AND key = ANY(%(keys)s) AND id <> ALL(%(own)s)
ORDER BY seq;

-- name: keys
-- The threads and people whom an event about a thread or a person may concern: the thread's authors, and all their
-- threads; and of some incidents the board and the threads in which they were reported.
WITH people AS (
    SELECT participant_id AS id FROM mails WHERE thread_id = %(thread)s AND participant_id IS NOT NULL
    UNION SELECT %(participant)s::uuid)
SELECT id::text AS key FROM people WHERE id IS NOT NULL
UNION SELECT thread_id::text FROM threads WHERE participant_id IN (SELECT id FROM people)
UNION SELECT %(thread)s::text
UNION SELECT board_id::text FROM incidents WHERE incident_id = ANY(%(incidents)s::uuid[])
UNION SELECT thread_id::text FROM trouble_reports WHERE incident_id = ANY(%(incidents)s::uuid[]);

-- name: threads_of_ids
-- The threads of mails with some Message-IDs.
SELECT DISTINCT thread_id FROM message_threads WHERE workspace = %(workspace)s AND message_id = ANY(%(ids)s);

-- name: answers
-- What models and tools answered then.
SELECT consumer, event_id, step, answer FROM checkpoints
WHERE consumer = ANY(%(consumers)s) AND event_id = ANY(%(events)s) ORDER BY consumer, event_id, step;

-- name: tables
-- The tables of the scratch schema that a case may fill.
SELECT c.relname AS name FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relname NOT LIKE '\_yoyo%%' AND c.relname NOT LIKE 'yoyo%%' AND c.relname <> 'embeddings';

-- name: removed_blob
-- Whether retention has removed the blobs of a mail or reply.
SELECT removed_at FROM removed_blobs WHERE owner = %(owner)s;
