-- name: store_events
-- Some events, their places in the outbox and the versions that their aggregates have now, in the transaction that decides
-- them. The same id again is the same event.
WITH reached AS (
    UPDATE aggregates a SET version = v.version
    FROM jsonb_to_recordset(%(versions)s) AS v (workspace text, kind text, id uuid, version bigint)
    WHERE a.workspace = v.workspace AND a.kind = v.kind AND a.id = v.id),
stored AS (
    INSERT INTO events (id, workspace, topic, key, type, source, time, aggregate, aggregate_id, version,
                        data_subject, correlation_id, causation_id, data, published_at)
    SELECT id, workspace, topic, key, type, source, time, aggregate, aggregate_id, version,
           data_subject, correlation_id, causation_id, data, clock_timestamp()
    FROM ROWS FROM (jsonb_to_recordset(%(events)s)
        AS (id uuid, workspace text, topic text, key text, type text, source text, time timestamptz, aggregate text,
            aggregate_id uuid, version bigint, data_subject uuid, correlation_id uuid, causation_id uuid, data jsonb))
        WITH ORDINALITY
    ORDER BY ordinality
    ON CONFLICT (id) DO NOTHING
    RETURNING id, seq, causation_id, source)
INSERT INTO outbox (event_id, seq, causation_id, source) SELECT id, seq, causation_id, source FROM stored;

-- name: by_id
-- An event, and whether the broker has still to acknowledge it.
SELECT e.*, EXISTS (SELECT FROM outbox o WHERE o.event_id = e.id) AS unpublished FROM events e WHERE e.id = %(id)s;

-- name: unpublished_of
-- What one consumer stored because of one event and has not published yet, in the order of storing. What the broker has
-- refused (`refusal`) is left to the relay.
SELECT e.*, CASE WHEN o.attempts > 0 THEN o.error END AS refusal FROM outbox o JOIN events e ON e.id = o.event_id
WHERE o.causation_id = %(cause)s AND o.source = %(source)s
ORDER BY e.seq;

-- name: outbox_due
-- What nobody published in time, or is to be tried again, whichever is due first, but for some topics. No pause is as long
-- as two hours: what seems to wait for longer was put off before the clock was set back. No row is locked: whoever publishes
-- one deletes it at once.
SELECT e.* FROM outbox o JOIN events e ON e.id = o.event_id
WHERE (o.next_attempt <= clock_timestamp() OR o.next_attempt > clock_timestamp() + interval '2 hours') AND e.topic <> ALL(%(without)s::text[])
ORDER BY o.next_attempt, o.seq LIMIT %(limit)s;

-- name: outbox_next
-- In how many seconds the next row is due; NULL where the outbox is empty.
SELECT extract(epoch FROM CASE WHEN max(next_attempt) > clock_timestamp() + interval '2 hours' THEN interval '0'
                               ELSE min(next_attempt) - clock_timestamp() END) AS due_s FROM outbox;

-- name: announce_published
-- Announce to the consumers in other processes that these topics got records; see `bell`.
SELECT pg_notify('correspondent_published', topic) FROM unnest(%(topics)s::text[]) AS topic;

-- name: outbox_state
-- What waits in the outbox for longer than it should, and what of it the broker has refused.
SELECT count(*) FILTER (WHERE o.attempts = 0) AS waiting, count(*) FILTER (WHERE o.attempts > 0) AS refused,
       min(e.stored_at) AS oldest
FROM outbox o JOIN events e ON e.id = o.event_id WHERE o.attempts > 0 OR o.next_attempt <= clock_timestamp();

-- name: outbox_refused
-- The events that the broker refuses, those of the most attempts first.
SELECT e.id, e.topic, e.type, e.key, e.stored_at, o.attempts, o.next_attempt, o.error, o.seq, -o.attempts AS spared
FROM outbox o JOIN events e ON e.id = o.event_id
WHERE o.attempts > 0 AND (-o.attempts, o.seq) > (%(after_spared)s::bigint, %(after_seq)s::bigint)
ORDER BY -o.attempts, o.seq LIMIT %(limit)s;

-- name: mark_refused
-- The broker refuses an event: it is tried again after a pause that doubles from 10 seconds to an hour.
UPDATE outbox SET attempts = attempts + 1, error = %(error)s,
    next_attempt = clock_timestamp() + least(interval '1 hour', interval '10 seconds' * 2 ^ least(attempts, 16))
WHERE event_id = %(id)s;

-- name: lock_aggregate
-- The aggregate's row, made if it is new, locked until the end of the transaction.
INSERT INTO aggregates (workspace, kind, id) VALUES (%(workspace)s, %(kind)s, %(id)s)
ON CONFLICT (workspace, kind, id) DO UPDATE SET version = aggregates.version
RETURNING version;

-- name: is_done
-- Whether the consumer has done this event.
SELECT 1 AS done FROM journal
WHERE consumer = %(consumer)s AND event_id = %(event_id)s AND event_day = %(event_day)s;

-- name: begin
-- Whether the consumer has done this event, whether an attempt before stored something that is not published yet or kept an
-- answer, and how many erasures have met its thread.
SELECT EXISTS (SELECT 1 FROM journal
               WHERE consumer = %(consumer)s AND event_id = %(event_id)s AND event_day = %(event_day)s) AS done,
       EXISTS (SELECT 1 FROM outbox WHERE causation_id = %(event_id)s AND source = %(consumer)s) AS left_behind,
       EXISTS (SELECT 1 FROM checkpoints WHERE consumer = %(consumer)s AND event_id = %(event_id)s) AS answered,
       (SELECT count(*) FROM erasures WHERE threads @> ARRAY[%(thread)s::uuid]) AS erasures;

-- name: erasures_of
-- How many erasures have met a thread.
SELECT count(*) AS erasures FROM erasures WHERE threads @> ARRAY[%(thread)s::uuid];

-- name: went_with_an_erase
-- Whether an erase took the thread or the person, and nothing of them has come since.
SELECT (EXISTS (SELECT FROM erasures WHERE threads @> ARRAY[%(thread)s::uuid])
        AND NOT EXISTS (SELECT FROM threads WHERE thread_id = %(thread)s::uuid)
        AND NOT EXISTS (SELECT FROM mails WHERE thread_id = %(thread)s::uuid))
    OR (EXISTS (SELECT FROM erasures WHERE workspace = %(workspace)s AND participant_id = %(person)s::uuid)
        AND NOT EXISTS (SELECT FROM participants WHERE participant_id = %(person)s::uuid)
        AND NOT EXISTS (SELECT FROM mails WHERE workspace = %(workspace)s AND participant_id = %(person)s::uuid)) AS gone;

-- name: mark_done
-- The journal row, on disk before the offset moves. No row comes back where the event was done before.
INSERT INTO journal (consumer, event_id, event_day) VALUES (%(consumer)s, %(event_id)s, %(event_day)s)
ON CONFLICT DO NOTHING RETURNING 1 AS done;

-- name: mark_done_at_once
-- The journal row where it is a unit's first effect: whether it is new, and how many erasures have met the event's thread.
WITH done AS (
    INSERT INTO journal (consumer, event_id, event_day) VALUES (%(consumer)s, %(event_id)s, %(event_day)s)
    ON CONFLICT DO NOTHING RETURNING 1)
SELECT EXISTS (SELECT FROM done) AS new,
       (SELECT count(*) FROM erasures WHERE threads @> ARRAY[%(thread)s::uuid]) AS erasures;

-- name: mark_done_here
-- The journal rows of events that the consumer itself has just stored, and has nothing more to do for.
INSERT INTO journal (consumer, event_id, event_day)
SELECT %(consumer)s, unnest(%(event_ids)s::uuid[]), unnest(%(event_days)s::date[])
ON CONFLICT DO NOTHING;

-- name: pass_over_everywhere
-- The journal rows of events that nobody can read any more, for each consumer that has a handler for their type.
INSERT INTO journal (consumer, event_id, event_day)
SELECT c.consumer, e.id, (e.time AT TIME ZONE 'UTC')::date FROM events e
JOIN unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer)
     ON c.topic = e.topic AND has_to_do(c.consumer, e.type, %(skipped)s::text[])
WHERE e.id = ANY(%(ids)s)
ON CONFLICT DO NOTHING;

-- name: checkpoint
-- The answer kept for one step, if it was asked before.
SELECT answer FROM checkpoints WHERE consumer = %(consumer)s AND event_id = %(event_id)s AND step = %(step)s;

-- name: keep_checkpoint
-- Keep an answer; the first one stands, and is what comes back. It is not waited for that it is on disk: what is decided
-- by it is, and comes after it. A server that crashes in between loses both, and the question is asked again.
WITH not_to_disk AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO checkpoints (consumer, event_id, step, answer)
SELECT %(consumer)s, %(event_id)s, %(step)s, %(answer)s FROM not_to_disk
ON CONFLICT (consumer, event_id, step) DO UPDATE SET answer = checkpoints.answer
RETURNING answer;

-- name: set_timer
-- Set a timer, or move the one with this id.
INSERT INTO timers (id, workspace, due_at, correlation_id, causation_id, event)
VALUES (%(id)s, %(workspace)s, %(due_at)s, %(correlation_id)s, %(causation_id)s, %(event)s)
ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, event = excluded.event, look_at = NULL,
    correlation_id = excluded.correlation_id, causation_id = excluded.causation_id;

-- name: cancel_timer
-- The timer is no longer wanted.
DELETE FROM timers WHERE id = %(id)s;

-- name: look_later
-- A timer that cannot be read is looked at again in a minute, by a newer version perhaps; it stands in nobody's way.
UPDATE timers SET look_at = %(now)s + interval '1 minute' WHERE id = %(id)s;

-- name: due_timers
-- Timers that have come due; skips what another keeper holds.
SELECT id, workspace, due_at, correlation_id, causation_id, event FROM timers
WHERE due_at <= %(now)s AND (look_at IS NULL OR look_at <= %(now)s)
ORDER BY due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED;

-- name: replace_data
-- What is left of an event when somebody whom it is about is erased.
UPDATE events SET data = %(data)s WHERE id = %(id)s;

-- name: forget_checkpoints
-- What models and tools answered because of these events.
DELETE FROM checkpoints WHERE event_id = ANY(%(ids)s);

-- name: forget_timers
-- What was to happen later in these threads.
DELETE FROM timers WHERE (event ->> 'thread_id')::uuid = ANY(%(threads)s);
