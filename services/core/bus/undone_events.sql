-- name: low
-- The least mark of some consumers: every event up to there is done, or stands in undone_events.
SELECT coalesce(min(coalesce(m.seq, -1)), -1) AS seq
FROM unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer)
LEFT JOIN consumed_marks m USING (topic, consumer);

-- name: all_stored_before
-- A moment before which no transaction that still runs has begun: whatever was stored by then can be seen. One that is
-- not ours to look at has a minute.
SELECT least(clock_timestamp() - make_interval(secs => %(margin_s)s), min(xact_start)) AS moment FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend';

-- name: advance
-- Moves marks on to the newest of the next events that was stored before a moment, and lists what is undone on the way.
-- In one order everywhere, so that two who do it never wait for each other.
WITH pairs AS MATERIALIZED (
    SELECT c.topic, c.consumer, coalesce(m.seq, -1) AS mark
    FROM unnest(%(topics)s::text[], %(consumers)s::text[]) AS c (topic, consumer)
    LEFT JOIN consumed_marks m USING (topic, consumer)),
next AS MATERIALIZED (
    SELECT id, seq, topic, type, time, stored_at FROM events WHERE seq > %(low)s ORDER BY seq LIMIT %(limit)s),
upto AS MATERIALIZED (SELECT max(seq) AS seq FROM next WHERE stored_at < %(moment)s),
listed AS (
    INSERT INTO undone_events (consumer, event_id, topic, seq)
    SELECT p.consumer, e.id, e.topic, e.seq
    FROM next e JOIN pairs p ON p.topic = e.topic AND e.seq > p.mark AND has_to_do(p.consumer, e.type, %(skipped)s::text[])
    WHERE e.seq <= (SELECT seq FROM upto) AND NOT EXISTS (
        SELECT FROM journal j WHERE j.consumer = p.consumer AND j.event_id = e.id
          AND j.event_day = (e.time AT TIME ZONE 'UTC')::date)
    ORDER BY p.consumer, e.id
    ON CONFLICT DO NOTHING),
moved AS (
    INSERT INTO consumed_marks (topic, consumer, seq)
    SELECT p.topic, p.consumer, u.seq FROM pairs p, upto u WHERE u.seq > p.mark ORDER BY p.topic, p.consumer
    ON CONFLICT (topic, consumer) DO UPDATE SET seq = greatest(consumed_marks.seq, excluded.seq)
    RETURNING 1)
SELECT (SELECT seq FROM upto) AS seq, (SELECT count(*) FROM moved) AS moved;

-- name: forget_done
-- What was listed and has been done since, or has left the table.
DELETE FROM undone_events u
WHERE NOT EXISTS (SELECT FROM events e WHERE e.id = u.event_id)
   OR EXISTS (SELECT FROM events e JOIN journal j ON j.event_id = e.id AND j.event_day = (e.time AT TIME ZONE 'UTC')::date
              WHERE e.id = u.event_id AND j.consumer = u.consumer);

-- name: undone
-- The places of events that some of the consumers have to do and have not done.
SELECT DISTINCT seq FROM left_to_do(%(topics)s::text[], %(consumers)s::text[], %(skipped)s::text[], %(low)s) ORDER BY seq;

-- name: at_places
SELECT * FROM events WHERE seq = ANY(%(places)s) ORDER BY seq;
