-- name: reply
-- One reply of the ledger.
SELECT thread_id, state, detail FROM deliveries WHERE reply_id = %(reply_id)s;
