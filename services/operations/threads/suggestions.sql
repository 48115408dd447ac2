-- name: known
-- The thread, its inbox, and the address of whom it is with.
SELECT t.inbox, coalesce(p.addr, '') AS addr FROM threads t LEFT JOIN participants p USING (participant_id)
WHERE t.workspace = %(workspace)s AND t.thread_id = %(thread_id)s;

-- name: suggestion
-- What was said of one suggestion: that it was asked for, and what the agent wrote, or that it gave up.
SELECT id, type, data FROM events
WHERE workspace = %(workspace)s AND key = %(thread)s AND type = ANY(%(types)s) AND data ->> 'turn_id' = %(turn)s
ORDER BY seq DESC LIMIT 10;
