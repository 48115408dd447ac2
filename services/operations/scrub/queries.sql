-- name: mark
-- Every table but some may hold what was deleted, and so may the log. What is marked stays so until its file is another.
INSERT INTO residues (place, filenode, asked_at)
SELECT c.relname, pg_relation_filenode(c.oid), %(at)s FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
  AND c.relname <> ALL(%(clean)s) AND position('yoyo' IN c.relname) = 0
UNION ALL SELECT 'pg_wal', NULL, %(at)s
ON CONFLICT (place) DO UPDATE SET filenode = excluded.filenode, asked_at = excluded.asked_at, cleared_at = NULL;

-- name: pending
-- What is marked, smallest first; `rewritten` where somebody has written the file again since.
SELECT r.place, r.asked_at, r.filenode IS NOT NULL AND (c.oid IS NULL OR pg_relation_filenode(c.oid) <> r.filenode) AS rewritten
FROM residues r LEFT JOIN pg_class c ON c.relname = r.place AND c.relnamespace = current_schema()::regnamespace
WHERE r.cleared_at IS NULL ORDER BY r.place = 'pg_wal', pg_total_relation_size(c.oid), r.place;

-- name: cleared
UPDATE residues SET cleared_at = %(at)s WHERE place = %(place)s;

-- name: now_in_line
SELECT pg_current_xact_id()::text AS id;

-- name: readers
-- Whoever may still see rows that were deleted before a transaction: a rewrite would keep these.
SELECT 'process ' || pid AS name, coalesce(application_name, '') AS application FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
  AND greatest(age(backend_xmin), age(backend_xid)) > age(%(before)s::xid)
UNION ALL SELECT 'prepared transaction ' || gid, '' FROM pg_prepared_xacts
WHERE database = current_database() AND age(transaction) > age(%(before)s::xid)
UNION ALL SELECT 'replication slot ' || slot_name, '' FROM pg_replication_slots WHERE age(xmin) > age(%(before)s::xid);

-- name: patience
SELECT set_config('lock_timeout', %(lock_timeout)s, false), set_config('statement_timeout', '0', false);

-- name: filenode
SELECT pg_relation_filenode(to_regclass(%(name)s)) AS file;

-- name: checkpoint
CHECKPOINT;

-- name: segment
-- The segment of the log that is written to.
SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS name;

-- name: segments
-- The files of the log: what was written, and what waits to be written over.
SELECT name FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' ORDER BY name;

-- name: turn_over
-- The rest of the segment is filled with zeros; one that is still empty gets a record, so that it is turned over too.
SELECT pg_logical_emit_message(false, 'correspondent', 'scrub'), pg_switch_wal();

-- name: catalog_files
-- The files of the server's own catalogue: it describes tables, and holds no values. Statistics do, and are not among them.
SELECT pg_relation_filenode(c.oid)::text AS name FROM pg_class c
WHERE c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  AND c.relname NOT LIKE 'pg_statistic%%' AND pg_relation_filenode(c.oid) IS NOT NULL
UNION ALL SELECT pg_relation_filenode(t.oid)::text FROM pg_class c JOIN pg_class t
  ON t.oid = c.reltoastrelid OR t.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = c.reltoastrelid)
WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname NOT LIKE 'pg_statistic%%'
  AND pg_relation_filenode(t.oid) IS NOT NULL;

-- name: folder
SELECT 'base/' || oid AS name FROM pg_database WHERE datname = current_database();

-- name: files
-- The files of a folder of the server, below its data folder or elsewhere.
SELECT f.name, s.size FROM pg_ls_dir(%(folder)s, true, false) AS f (name),
LATERAL pg_stat_file(%(folder)s || '/' || f.name, true) s WHERE NOT s.isdir ORDER BY f.name;

-- name: piece
SELECT pg_read_binary_file(%(path)s, %(at)s, %(size)s, true) AS content;

-- name: log_file
SELECT pg_current_logfile() AS name;
