-- name: reply
-- A reply of the agent that left; those that a person wrote are judged by nobody here.
SELECT d.reply_id, d.thread_id, d.inbox, d.intent, d.model FROM deliveries d JOIN turns u USING (turn_id)
WHERE d.workspace = %(workspace)s AND d.reply_id = %(reply_id)s AND d.sent_at IS NOT NULL AND u.by = '';

-- name: thumbs
SELECT reply_id, by, good, reason, at FROM reply_thumbs
WHERE workspace = %(workspace)s AND reply_id = ANY(%(replies)s::uuid[]) ORDER BY at, by;

-- name: give
INSERT INTO reply_thumbs (reply_id, by, workspace, good, reason, inbox, intent, model, at)
VALUES (%(reply_id)s, %(by)s, %(workspace)s, %(good)s, %(reason)s, %(inbox)s, %(intent)s, %(model)s, %(at)s)
ON CONFLICT (reply_id, by) DO UPDATE SET good = excluded.good, reason = excluded.reason, at = excluded.at;

-- name: take_back
DELETE FROM reply_thumbs WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s AND by = %(by)s;
