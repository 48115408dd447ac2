-- name: ledger
SELECT reply_id, thread_id, changed_at, state, recipient, attempt, detail, message_id, sent_copy, copy_detail FROM deliveries
WHERE workspace = %(workspace)s AND (%(state)s = '' OR state = %(state)s)
  AND (changed_at, reply_id) < (%(after_changed_at)s::timestamptz, %(after_reply_id)s::uuid)
ORDER BY changed_at DESC, reply_id DESC LIMIT %(limit)s;
