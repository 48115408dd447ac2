-- name: known
SELECT 1 FROM threads WHERE workspace = %(workspace)s AND thread_id = %(thread_id)s;

-- name: suggestion
-- What was said of one suggestion: that it was asked for, and what the agent wrote, or that it gave up.
SELECT id, type, data FROM events
WHERE workspace = %(workspace)s AND key = %(thread)s AND type = ANY(%(types)s) AND data ->> 'turn_id' = %(turn)s
ORDER BY seq DESC LIMIT 10;
