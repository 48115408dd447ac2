-- name: ledger
SELECT reply_id, thread_id, changed_at, state, recipient, attempt, detail, message_id, sent_copy, copy_detail FROM deliveries
WHERE workspace = %(workspace)s AND (%(state)s = '' OR state = %(state)s)
ORDER BY changed_at DESC LIMIT %(limit)s;
