-- name: listed
-- Addresses that get no mail of ours, newest first, and the mail of theirs that said so.
SELECT s.addr, s.reason, s.at, s.reply_id, d.thread_id, d.detail FROM suppressions s
LEFT JOIN deliveries d USING (reply_id)
WHERE s.workspace = %(workspace)s AND (s.lifted_at IS NULL OR s.lifted_at < s.at)
  AND (s.at, s.addr) < (%(after_at)s::timestamptz, %(after_addr)s)
ORDER BY s.at DESC, s.addr DESC LIMIT %(limit)s;

-- name: suppressed
-- One of them.
SELECT s.addr, s.reply_id, d.thread_id FROM suppressions s LEFT JOIN deliveries d USING (reply_id)
WHERE s.workspace = %(workspace)s AND s.addr = %(addr)s AND (s.lifted_at IS NULL OR s.lifted_at < s.at);
