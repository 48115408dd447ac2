-- name: hops
-- The newest events that followed from the mails and requests of a thread, the newest first.
SELECT e.correlation_id, e.seq, e.type, e.source, e.time, e.stored_at FROM events e
WHERE e.workspace = %(workspace)s AND e.correlation_id IN (
    SELECT o.correlation_id FROM events o WHERE o.workspace = %(workspace)s AND o.key = %(thread_id)s::text)
ORDER BY e.seq DESC LIMIT %(limit)s;
