-- name: suppressed
-- One of them.
SELECT s.addr, s.reply_id, d.thread_id FROM suppressions s LEFT JOIN deliveries d USING (reply_id)
WHERE s.workspace = %(workspace)s AND s.addr = %(addr)s AND (s.lifted_at IS NULL OR s.lifted_at < s.at);
