-- name: mark_published
-- The broker has acknowledged these events. A row that another process deletes right now is not waited for. The deletion
-- need not be on disk at once: lost, the event is published again, and known by its id. What version 0.1 stored is marked
-- in its own way, too, so that it does not publish it for ever.
WITH unhurried AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
stored_by_0_1 AS (
    UPDATE events SET published_at = clock_timestamp()
    WHERE id IN (SELECT id FROM events WHERE id = ANY(%(ids)s) AND published_at IS NULL ORDER BY id FOR UPDATE SKIP LOCKED)),
free AS (SELECT event_id FROM outbox WHERE event_id = ANY(%(ids)s) ORDER BY event_id FOR UPDATE SKIP LOCKED)
DELETE FROM outbox USING unhurried, free WHERE outbox.event_id = free.event_id;
