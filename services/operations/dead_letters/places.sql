-- name: marks
-- How far each topic was read, of which generation, and which one it is now.
SELECT t.topic, t.partition, m.generation AS noted, m.upto, coalesce(l.generation, 0) AS generation
FROM unnest(%(topics)s::text[], %(partitions)s::int[]) AS t (topic, partition)
LEFT JOIN dead_letter_marks m USING (topic, partition) LEFT JOIN log_topics l ON l.name = t.topic;

-- name: forget_old
-- The broker has deleted them. Some of them, the oldest first.
DELETE FROM dead_letter_places WHERE id IN (
    SELECT id FROM dead_letter_places WHERE noted_at < clock_timestamp() - %(days)s * interval '1 day'
    ORDER BY noted_at LIMIT 1000 FOR UPDATE SKIP LOCKED);

-- name: forget_lost
DELETE FROM dead_letter_places WHERE topic = %(topic)s AND partition = %(partition)s;

-- name: note
INSERT INTO dead_letter_places (id, event_id, consumer, topic, partition, record_offset, failed_at, decided)
VALUES (%(id)s, %(event_id)s, %(consumer)s, %(topic)s, %(partition)s, %(offset)s, %(failed_at)s,
        EXISTS (SELECT FROM letter_decisions d WHERE d.letter_id = %(id)s))
ON CONFLICT (id) DO NOTHING;

-- name: mark
INSERT INTO dead_letter_marks (topic, partition, generation, upto)
VALUES (%(topic)s, %(partition)s, %(generation)s, %(upto)s)
ON CONFLICT (topic, partition) DO UPDATE SET generation = excluded.generation, upto = excluded.upto;

-- name: decided
-- What is decided of one counts for all that its group made of the same event: a record may be given up twice.
UPDATE dead_letter_places SET decided = true
WHERE NOT decided AND (id = %(letter_id)s OR event_id = %(event_id)s AND consumer = %(consumer)s);

-- name: count_waiting
-- What an earlier release decided meanwhile is noted in letter_decisions alone.
SELECT count(*) AS letters FROM dead_letter_places p
WHERE NOT decided AND NOT EXISTS (SELECT FROM letter_decisions d WHERE d.letter_id = p.id)
  AND NOT EXISTS (SELECT FROM dead_letter_places n WHERE n.event_id = p.event_id AND n.consumer = p.consumer
                  AND NOT n.decided AND (n.failed_at, n.id) > (p.failed_at, p.id));

-- name: waiting
-- Letters that wait, the newest first, of each event and group the newest. A null filters nothing.
SELECT id, consumer, topic, partition, record_offset, failed_at FROM dead_letter_places p
WHERE NOT decided
  AND NOT EXISTS (SELECT FROM dead_letter_places n WHERE n.event_id = p.event_id AND n.consumer = p.consumer
                  AND NOT n.decided AND (n.failed_at, n.id) > (p.failed_at, p.id))
  AND (failed_at, id) < (%(after_failed_at)s::timestamptz, %(after_id)s::uuid)
  AND (%(group)s::text IS NULL OR consumer = %(group)s)
  AND (%(since)s::timestamptz IS NULL OR failed_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR failed_at < %(until)s)
ORDER BY failed_at DESC, id DESC LIMIT %(limit)s;

-- name: all
-- The same with those that were decided.
SELECT id, consumer, topic, partition, record_offset, failed_at FROM dead_letter_places
WHERE (failed_at, id) < (%(after_failed_at)s::timestamptz, %(after_id)s::uuid)
  AND (%(group)s::text IS NULL OR consumer = %(group)s)
  AND (%(since)s::timestamptz IS NULL OR failed_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR failed_at < %(until)s)
ORDER BY failed_at DESC, id DESC LIMIT %(limit)s;

-- name: named
-- Letters whose id begins so.
SELECT id, consumer, topic, partition, record_offset, failed_at FROM dead_letter_places
WHERE id BETWEEN %(least)s AND %(most)s ORDER BY id LIMIT %(limit)s;
