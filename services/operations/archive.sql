-- name: choose
-- What may leave, stored before `until`: published, done by every consumer that handles its type (or discarded as its dead letter), of no thread with an open turn;
-- and of an aggregate only its oldest versions without a gap, so that files first and table then give them in order.
CREATE TEMP TABLE leaving ON COMMIT DROP AS
WITH ripe AS (
    SELECT e.id, e.workspace, e.aggregate, e.aggregate_id, e.version FROM events e
    WHERE e.stored_at < {until} AND e.id NOT IN (SELECT o.event_id FROM outbox o)
      AND e.key NOT IN (SELECT t.thread_id::text FROM turns t WHERE t.closed_at IS NULL)
      AND NOT EXISTS (
          SELECT FROM unnest({topics}::text[], {consumers}::text[]) AS c (topic, consumer)
          WHERE c.topic = e.topic AND has_to_do(c.consumer, e.type, {skipped}::text[]) AND NOT EXISTS (
              SELECT FROM journal j WHERE j.consumer = c.consumer AND j.event_id = e.id
                AND j.event_day = (e.time AT TIME ZONE 'UTC')::date)
            AND NOT EXISTS (
              SELECT FROM letter_decisions d
              WHERE d.consumer = c.consumer AND d.event_id = e.id AND d.state = 'discarded'))),
numbered AS (
    SELECT r.*, row_number() OVER (PARTITION BY workspace, aggregate, aggregate_id ORDER BY version) AS place
    FROM ripe r WHERE version IS NOT NULL)
SELECT id FROM ripe WHERE version IS NULL
UNION ALL
SELECT n.id FROM numbered n
WHERE n.version = n.place - 1 + (
    SELECT min(e.version) FROM events e
    WHERE e.workspace = n.workspace AND e.aggregate = n.aggregate AND e.aggregate_id = n.aggregate_id);

-- name: leaving_rows
-- The rows, whole and as stored, held until they are gone.
SELECT to_jsonb(e)::text AS line FROM events e WHERE e.id IN (SELECT id FROM leaving) ORDER BY e.seq FOR UPDATE;

-- name: keep_manifest
INSERT INTO archives (file, place, day, events, kinds, first_seq, last_seq, last_stored_at, bytes, sha256)
VALUES (%(file)s, %(place)s, %(day)s, %(events)s, %(kinds)s, %(first_seq)s, %(last_seq)s, %(last_stored_at)s,
        %(bytes)s, %(sha256)s);

-- name: remove
-- The rows that are in the file now.
DELETE FROM events WHERE id IN (SELECT id FROM leaving);

-- name: oldest
-- When the oldest event between two moments was stored: what is newer is not read.
SELECT min(stored_at) AS at FROM events WHERE stored_at >= %(since)s AND stored_at < %(before)s;

-- name: live_schema
-- Where the deployment's own tables stand.
SELECT current_schema() AS name;

-- name: thaw
-- Tables of this session alone: one with the shape of `events`, and no archived file.
CREATE TEMP TABLE thawed (LIKE events);
CREATE TEMP TABLE archives (LIKE archives);

-- name: take_thawed
INSERT INTO thawed SELECT (jsonb_populate_record(NULL::thawed, line::jsonb)).* FROM unnest(%(lines)s::text[]) AS given (line);

-- name: see_thawed
-- From here on `events` means, in this session, the table and what was thawed.
CREATE INDEX ON thawed (id);
CREATE INDEX ON thawed (causation_id);
CREATE INDEX ON thawed (correlation_id);
CREATE INDEX ON thawed (key);
ANALYZE thawed;
CREATE TEMP VIEW events AS SELECT * FROM {live}.events UNION ALL SELECT * FROM thawed;
