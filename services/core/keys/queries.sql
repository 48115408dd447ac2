-- name: by_ids
-- Wrapped keys, for reading.
SELECT key_id, master, wrapped FROM subject_keys WHERE key_id = ANY(%(ids)s);

-- name: hold
-- The keys of some subjects, and the one that was used: they stay until the end of the transaction. And how many erasures
-- have met a thread.
SELECT key_id, subject, master, wrapped,
       (SELECT count(*) FROM erasures e WHERE e.threads @> ARRAY[%(thread)s::uuid]) AS erasures
FROM subject_keys
WHERE (workspace = %(workspace)s AND subject = ANY(%(subjects)s)) OR key_id = %(used)s
ORDER BY key_id FOR KEY SHARE;

-- name: make
-- A subject's first key; whoever is first makes it.
INSERT INTO subject_keys (key_id, workspace, subject, owners, master, wrapped)
VALUES (%(key_id)s, %(workspace)s, %(subject)s, %(owners)s, %(master)s, %(wrapped)s)
ON CONFLICT (workspace, subject) DO NOTHING;

-- name: to_disk
-- The end of this transaction waits for the disk as those do that nobody has told otherwise.
SET LOCAL synchronous_commit TO DEFAULT;

-- name: hand_over
-- Whom a mail is of is known now.
UPDATE subject_keys SET owners = %(owners)s WHERE workspace = %(workspace)s AND subject = %(subject)s;

-- name: owned
-- Every key that goes when one of these people does, and some others by id; nobody stores anything under them any more.
SELECT key_id, subject, owners FROM subject_keys
WHERE workspace = %(workspace)s AND (owners && %(people)s::uuid[] OR key_id = ANY(%(ids)s) OR subject = ANY(%(subjects)s))
ORDER BY key_id FOR UPDATE;

-- name: destroy
DELETE FROM subject_keys WHERE key_id = ANY(%(ids)s);

-- name: wrapped_by_others
-- Keys that a former master key wrapped.
SELECT key_id, master, wrapped FROM subject_keys WHERE master <> %(master)s ORDER BY key_id LIMIT %(limit)s FOR UPDATE;

-- name: wrap
UPDATE subject_keys SET master = %(master)s, wrapped = %(wrapped)s WHERE key_id = %(key_id)s;
