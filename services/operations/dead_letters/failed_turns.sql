-- name: failed_turns
-- The newest turn of each thread, where it failed before there was a reply that may have left. A null filters nothing.
SELECT u.thread_id, u.turn_id, u.closed_at AS failed_at, u.reason AS error, t.state, t.subject
FROM turns u JOIN threads t USING (thread_id)
WHERE u.workspace = %(workspace)s AND u.outcome = 'failed' AND u.reply_id IS NULL
  AND NOT EXISTS (SELECT FROM turns n WHERE n.thread_id = u.thread_id AND n.opened_at > u.opened_at)
  AND (%(thread)s::text IS NULL OR u.thread_id::text LIKE %(thread)s || '%%')
  AND u.reason ILIKE '%%' || replace(replace(%(error)s, '\', '\\'), '%%', '\%%') || '%%'
  AND (%(since)s::timestamptz IS NULL OR u.closed_at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR u.closed_at < %(until)s)
ORDER BY u.closed_at;
