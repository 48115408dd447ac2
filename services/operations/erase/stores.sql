-- name: tables
-- Every table of the database but the server's own; a partition's rows are read with its parent.
SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\_%%'
  AND n.nspname <> 'information_schema'
ORDER BY 1, 2;

-- name: naming_blobs
-- Events that may name blobs, in order.
SELECT seq, type, data FROM events
WHERE seq > %(after)s AND type IN ('mail.received.v1', 'email.read.v1', 'reply.approved.v1')
ORDER BY seq LIMIT %(limit)s;
