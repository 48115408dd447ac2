-- name: hold
-- Note that a record is held, or that it still is; whether that is new, and whether a person has released it. Some of those
-- that ended long ago go on the way.
WITH ended AS (
    DELETE FROM held_records WHERE id IN (
        SELECT h.id FROM held_records h
        WHERE h.since < clock_timestamp() - interval '90 days'
          AND (h.released_at IS NOT NULL OR EXISTS (
              SELECT FROM journal j WHERE j.consumer = h.consumer AND j.event_id = h.event_id AND j.event_day = h.event_day))
        ORDER BY h.since LIMIT 10 FOR UPDATE SKIP LOCKED))
INSERT INTO held_records (consumer, topic, partition, record_offset, event_id, event_day, type, error)
VALUES (%(consumer)s, %(topic)s, %(partition)s, %(offset)s, %(event_id)s, %(event_day)s, %(type)s, %(error)s)
ON CONFLICT (consumer, topic, partition, record_offset) DO UPDATE SET error = excluded.error
RETURNING released_at IS NOT NULL AS released, xmax = 0 AS new;

-- name: held
-- What is held now: neither done since, by a newer version, nor released.
SELECT id, consumer, topic, partition, record_offset, type, error, since FROM held_records h
WHERE released_at IS NULL AND NOT EXISTS (
    SELECT FROM journal j WHERE j.consumer = h.consumer AND j.event_id = h.event_id AND j.event_day = h.event_day)
  AND (h.since, h.id) > (%(after_since)s::timestamptz, %(after_id)s::bigint)
ORDER BY since, id LIMIT %(limit)s;

-- name: release
-- The record becomes a dead letter when its consumer looks at it again.
UPDATE held_records SET released_at = clock_timestamp() WHERE id = %(id)s AND released_at IS NULL RETURNING type;
