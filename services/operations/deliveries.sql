-- name: ledger
SELECT reply_id, thread_id, changed_at, state, recipient, attempt, detail, message_id, retry_at, sent_copy, copy_detail FROM deliveries
WHERE workspace = %(workspace)s AND (%(state)s = '' OR state = %(state)s)
  AND (changed_at, reply_id) < (%(after_changed_at)s::timestamptz, %(after_reply_id)s::uuid)
ORDER BY changed_at DESC, reply_id DESC LIMIT %(limit)s;

-- name: suppressed
-- Addresses that get no mail of ours, newest first, and the mail of theirs that said so.
SELECT s.addr, s.reason, s.at, s.reply_id, d.thread_id, d.detail FROM suppressions s
LEFT JOIN deliveries d USING (reply_id)
WHERE s.workspace = %(workspace)s AND (s.lifted_at IS NULL OR s.lifted_at < s.at)
  AND (s.at, s.addr) < (%(after_at)s::timestamptz, %(after_addr)s)
ORDER BY s.at DESC, s.addr DESC LIMIT %(limit)s;

-- name: one_suppressed
-- One of them, by its address.
SELECT s.addr, s.reply_id, d.thread_id FROM suppressions s LEFT JOIN deliveries d USING (reply_id)
WHERE s.workspace = %(workspace)s AND s.addr = %(addr)s AND (s.lifted_at IS NULL OR s.lifted_at < s.at);

-- name: reply
-- One reply of the ledger.
SELECT thread_id, state, detail FROM deliveries WHERE reply_id = %(reply_id)s;
