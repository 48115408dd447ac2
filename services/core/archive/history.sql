-- name: one_moment
-- The files that count and the rows of the table are read as of one moment: none moves from here to there meanwhile.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- name: manifests
-- The archived files that count, in the order in which they were written, which keeps each aggregate's versions in order.
SELECT file, place, day, events, kinds, first_seq, last_seq, last_stored_at, bytes, sha256 FROM archives ORDER BY number;

-- name: aggregate_events
-- Events that changed an aggregate, one aggregate after the other, in version order. A null filters nothing.
-- kinds: only these aggregates. keys: only events with these keys (and documents, if asked for). after, upto: what was stored
-- behind and up to these places in the log.
SELECT * FROM events
WHERE version IS NOT NULL
  AND (%(kinds)s::text[] IS NULL OR aggregate = ANY(%(kinds)s))
  AND (%(keys)s::text[] IS NULL OR key = ANY(%(keys)s) OR (%(documents)s AND aggregate = 'document'))
  AND (%(after)s::bigint IS NULL OR seq > %(after)s)
  AND (%(upto)s::bigint IS NULL OR seq <= %(upto)s)
ORDER BY workspace, aggregate, aggregate_id, version;

-- name: blanked
-- Threads in which others go on after one of theirs was erased, and up to which version their events count without texts.
SELECT workspace, thread_id, upto FROM blanked_threads;

-- name: resealed
-- Data of archived events that an erase has sealed again.
SELECT event_id, data FROM resealed_events;
