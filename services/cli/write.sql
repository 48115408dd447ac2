-- name: answered
-- The subject of the thread in which we sent a mail.
SELECT t.subject FROM deliveries d JOIN threads t USING (thread_id)
WHERE d.workspace = %(workspace)s AND d.message_id = %(message_id)s;
