-- name: store_event
-- One event, in the transaction that decides it. The same id again is the same event.
INSERT INTO events (id, workspace, topic, key, type, source, time, aggregate, aggregate_id, version,
                    data_subject, correlation_id, causation_id, data)
VALUES (%(id)s, %(workspace)s, %(topic)s, %(key)s, %(type)s, %(source)s, %(time)s, %(aggregate)s,
        %(aggregate_id)s, %(version)s, %(data_subject)s, %(correlation_id)s, %(causation_id)s, %(data)s)
ON CONFLICT (id) DO NOTHING;

-- name: by_id
SELECT * FROM events WHERE id = %(id)s;

-- name: unpublished_of
-- What one consumer stored because of one event and has not published yet, in the order of storing.
SELECT * FROM events
WHERE causation_id = %(cause)s AND source = %(source)s AND published_at IS NULL
ORDER BY seq;

-- name: unpublished_since
-- What nobody published although it was stored a while ago. No row is held: whoever publishes marks it at once.
SELECT * FROM events
WHERE published_at IS NULL AND stored_at < clock_timestamp() - make_interval(secs => %(age_s)s)
ORDER BY seq LIMIT %(limit)s;

-- name: mark_published
-- The broker has acknowledged these events. Rows are locked in one order, as two processes may say so at once. A mark
-- need not be on disk at once: lost, the event is published again, and known by its id.
WITH unhurried AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
unmarked AS (SELECT id FROM events WHERE id = ANY(%(ids)s) AND published_at IS NULL ORDER BY id FOR UPDATE)
UPDATE events SET published_at = clock_timestamp() FROM unhurried, unmarked WHERE events.id = unmarked.id;

-- name: unconsumed
-- Stored events that a consumer of their topic has neither journaled nor, as a dead letter, been spared by a person: what
-- a broker that forgot must be told again.
SELECT * FROM events e
WHERE e.seq > %(after)s AND EXISTS (
    SELECT 1 FROM unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer)
    WHERE c.topic = e.topic AND NOT EXISTS (
        SELECT 1 FROM journal j WHERE j.consumer = c.consumer AND j.event_id = e.id AND j.event_day = (e.time AT TIME ZONE 'UTC')::date)
      AND NOT EXISTS (
        SELECT 1 FROM letter_decisions d WHERE d.consumer = c.consumer AND d.event_id = e.id AND d.state = 'discarded'))
ORDER BY e.seq LIMIT %(limit)s;

-- name: lock_aggregate
-- The aggregate's row, made if it is new, held until the end of the transaction.
INSERT INTO aggregates (workspace, kind, id) VALUES (%(workspace)s, %(kind)s, %(id)s)
ON CONFLICT (workspace, kind, id) DO UPDATE SET version = aggregates.version
RETURNING version;

-- name: set_version
-- The version that the aggregate's newest event carries.
UPDATE aggregates SET version = %(version)s WHERE workspace = %(workspace)s AND kind = %(kind)s AND id = %(id)s;

-- name: is_done
-- Whether the consumer has done this event.
SELECT 1 AS done FROM journal
WHERE consumer = %(consumer)s AND event_id = %(event_id)s AND event_day = %(event_day)s;

-- name: begin
-- Whether the consumer has done this event, and how many erasures have met its thread.
SELECT EXISTS (SELECT 1 FROM journal
               WHERE consumer = %(consumer)s AND event_id = %(event_id)s AND event_day = %(event_day)s) AS done,
       (SELECT count(*) FROM erasures WHERE threads @> ARRAY[%(thread)s::uuid]) AS erasures;

-- name: mark_done
-- The journal row, on disk before the offset moves. No row comes back where the event was done before.
INSERT INTO journal (consumer, event_id, event_day) VALUES (%(consumer)s, %(event_id)s, %(event_day)s)
ON CONFLICT DO NOTHING RETURNING 1 AS done;

-- name: mark_settled
-- The journal rows of events that the consumer itself has just stored, and has nothing more to do for.
INSERT INTO journal (consumer, event_id, event_day)
SELECT %(consumer)s, unnest(%(event_ids)s::uuid[]), %(event_day)s
ON CONFLICT DO NOTHING;

-- name: pass_over_everywhere
-- The journal rows of events that nobody can read any more, for each consumer of their topic.
INSERT INTO journal (consumer, event_id, event_day)
SELECT c.consumer, e.id, (e.time AT TIME ZONE 'UTC')::date FROM events e
JOIN unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer) USING (topic)
WHERE e.id = ANY(%(ids)s)
ON CONFLICT DO NOTHING;

-- name: checkpoint
-- The answer kept for one step, if it was asked before.
SELECT answer FROM checkpoints WHERE consumer = %(consumer)s AND event_id = %(event_id)s AND step = %(step)s;

-- name: keep_checkpoint
-- Keep an answer; the first one stands, and is what comes back.
INSERT INTO checkpoints (consumer, event_id, step, answer)
VALUES (%(consumer)s, %(event_id)s, %(step)s, %(answer)s)
ON CONFLICT (consumer, event_id, step) DO UPDATE SET answer = checkpoints.answer
RETURNING answer;

-- name: set_timer
-- Set a timer, or move the one with this id.
INSERT INTO timers (id, workspace, due_at, correlation_id, causation_id, event)
VALUES (%(id)s, %(workspace)s, %(due_at)s, %(correlation_id)s, %(causation_id)s, %(event)s)
ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, event = excluded.event,
    correlation_id = excluded.correlation_id, causation_id = excluded.causation_id;

-- name: cancel_timer
-- The timer is no longer wanted.
DELETE FROM timers WHERE id = %(id)s;

-- name: put_off
-- A timer that cannot be read is looked at again tomorrow, by a newer version perhaps; it stands in nobody's way.
UPDATE timers SET due_at = due_at + interval '1 day' WHERE id = %(id)s;

-- name: due_timers
-- Timers that have come due; skips what another keeper holds.
SELECT * FROM timers WHERE due_at <= %(now)s ORDER BY due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED;

-- name: replace_data
-- What is left of an event when somebody whom it is about is erased.
UPDATE events SET data = %(data)s WHERE id = %(id)s;

-- name: forget_checkpoints
-- What models and tools answered because of these events.
DELETE FROM checkpoints WHERE event_id = ANY(%(ids)s);

-- name: forget_timers
-- What was to happen later in these threads.
DELETE FROM timers WHERE (event ->> 'thread_id')::uuid = ANY(%(threads)s);
