-- name: pass_over
-- The journal rows of events for which their consumers have nothing to do. In one order everywhere, so that two processes
-- that were given the same events never wait for each other.
INSERT INTO journal (consumer, event_id, event_day)
SELECT * FROM unnest(%(consumers)s::text[], %(event_ids)s::uuid[], %(event_days)s::date[])
ON CONFLICT DO NOTHING;

-- name: mark_published
-- The broker has acknowledged these events. A row that another process deletes right now is not waited for. What version 0.1
-- stored is marked in its own way, too, so that it does not publish it for ever.
WITH stored_by_0_1 AS (
    UPDATE events SET published_at = clock_timestamp()
    WHERE id IN (SELECT id FROM events WHERE id = ANY(%(ids)s) AND published_at IS NULL ORDER BY id FOR UPDATE SKIP LOCKED)),
free AS (SELECT event_id FROM outbox WHERE event_id = ANY(%(ids)s) ORDER BY event_id FOR UPDATE SKIP LOCKED)
DELETE FROM outbox USING free WHERE outbox.event_id = free.event_id;

-- name: write
-- Something to write: a transaction that wrote nothing (each row was there) would not wait for the commits before it.
SELECT pg_logical_emit_message(true, 'correspondent', '');
