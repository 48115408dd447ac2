-- name: contexts
-- The contexts that were assembled in a thread, the newest first; older days may be archived.
SELECT time, data FROM events
WHERE workspace = %(workspace)s AND key = %(thread_id)s::text AND type = 'memory.loaded.v1' ORDER BY seq DESC;

-- name: decisions
-- What the model decided in a thread, oldest first.
SELECT time, data FROM events
WHERE workspace = %(workspace)s AND key = %(thread_id)s::text AND type = 'reply.drafted.v1' ORDER BY seq;

-- name: reply
-- The turn that a reply was written in.
SELECT thread_id, turn_id FROM deliveries WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s;
