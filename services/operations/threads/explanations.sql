-- name: turns_told
-- The contexts that were assembled in a thread, and what the model decided, oldest first; older days may be archived.
SELECT * FROM events
WHERE workspace = %(workspace)s AND key = %(thread_id)s::text AND type = ANY(%(types)s) ORDER BY seq;

-- name: reply
-- The turn that a reply was written in.
SELECT thread_id, turn_id FROM deliveries WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s;
