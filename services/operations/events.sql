-- name: found
-- Events that have an id, followed from one, or are about it; of nobody's content, which is sealed. Archived ones are not here.
SELECT e.seq, e.id, e.type, e.source, e.topic, e.key, e.time, e.stored_at, e.correlation_id, e.causation_id, e.published_at
FROM events e
WHERE e.workspace = %(workspace)s AND e.seq < %(after_seq)s AND e.seq IN (
    SELECT o.seq FROM events o WHERE o.id = ANY(%(ids)s)
    UNION
    SELECT o.seq FROM events o WHERE o.correlation_id = ANY(%(ids)s)
    UNION
    SELECT o.seq FROM events o WHERE o.causation_id = ANY(%(ids)s)
    UNION
    SELECT o.seq FROM events o WHERE o.key = ANY(%(ids)s::uuid[]::text[]))
ORDER BY e.seq DESC LIMIT %(limit)s;
