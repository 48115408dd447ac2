-- name: thread
SELECT t.*, s.text AS summary FROM threads t LEFT JOIN thread_summaries s USING (thread_id)
WHERE t.thread_id = %(thread_id)s;

-- name: goals
SELECT text, closed_at FROM goals WHERE thread_id = %(thread_id)s ORDER BY added_at;

-- name: said
SELECT at, role, text, reply_id FROM conversation WHERE thread_id = %(thread_id)s ORDER BY version;

-- name: log
SELECT at, from_state, to_state, trigger, reason, refused FROM thread_log
WHERE thread_id = %(thread_id)s ORDER BY version;

-- name: last_step
SELECT from_state, to_state, refused FROM thread_log
WHERE thread_id = %(thread_id)s AND cause = %(cause)s ORDER BY version DESC LIMIT 1;
