-- name: speak_utc
SELECT set_config('TimeZone', 'UTC', false);

-- name: schema
SELECT nspname AS name FROM pg_namespace WHERE nspname = %(name)s;

-- name: named_schemas
SELECT nspname AS name FROM pg_namespace WHERE nspname ~ %(names)s ORDER BY 1;

-- name: occupy
-- Until the end of the connection.
SELECT pg_advisory_lock(hashtextextended('correspondent schema ' || %(name)s, 0));

-- name: occupy_if_free
SELECT pg_try_advisory_lock(hashtextextended('correspondent schema ' || %(name)s, 0)) AS free;

-- name: past_schemas
-- Schemas with this comment.
SELECT nspname AS name FROM pg_namespace WHERE obj_description(oid, 'pg_namespace') = %(said)s ORDER BY nspname;

-- name: live_schema
-- Where the deployment's own tables stand.
SELECT current_schema() AS name;

-- name: look_at
-- Until the end of the transaction, names mean the tables of this schema.
SELECT set_config('search_path', %(schema)s, true);

-- name: vector_schema
-- Where the type `vector` is found.
SELECT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';

-- name: missing_tables
-- Tables of the live schema that the other one lacks (the journal's days apart: they are made as days come).
SELECT l.relname AS name FROM pg_class l
WHERE l.relnamespace = %(live)s::regnamespace AND l.relkind IN ('r', 'p') AND NOT l.relispartition
  AND NOT EXISTS (SELECT FROM pg_class b WHERE b.relnamespace = %(schema)s::regnamespace AND b.relname = l.relname)
ORDER BY l.relname;

-- name: count_events
-- How many events a rebuild of these kinds will meet.
SELECT count(*) AS n FROM events WHERE version IS NOT NULL AND aggregate = ANY(%(kinds)s);

-- name: count_erased
-- How many of them nobody can read any more.
SELECT count(*) AS n FROM events e
WHERE e.version IS NOT NULL AND e.aggregate = ANY(%(kinds)s) AND e.data ? '$key'
  AND NOT EXISTS (SELECT FROM subject_keys k WHERE k.key_id = (e.data ->> '$key')::uuid);

-- name: events_behind
-- What is stored of these kinds and not yet applied in the schema `beside`: one aggregate after the other.
SELECT e.*, e.data ? '$sealed' AND EXISTS (
           SELECT 1 FROM {live}.blanked_threads t WHERE t.workspace = e.workspace AND e.aggregate = 'thread'
           AND t.thread_id = e.aggregate_id AND e.version <= t.upto) AS blanked
FROM {live}.events e
LEFT JOIN {beside}.aggregates b ON b.workspace = e.workspace AND b.kind = e.aggregate AND b.id = e.aggregate_id
WHERE e.version > coalesce(b.version, 0) AND e.aggregate = ANY(%(kinds)s)
ORDER BY e.workspace, e.aggregate, e.aggregate_id, e.version;

-- name: give_up_soon
-- A lock that does not come at once is asked for again later, so that nobody waits behind us.
SELECT set_config('lock_timeout', %(milliseconds)s::text, true);

-- name: forget_versions
DELETE FROM {live}.aggregates WHERE kind = ANY(%(kinds)s);

-- name: take_versions
INSERT INTO {live}.aggregates (workspace, kind, id, version)
SELECT workspace, kind, id, version FROM {beside}.aggregates WHERE kind = ANY(%(kinds)s);

-- name: carry_fact_vectors
-- Vectors are a cache: those of unchanged texts are kept.
UPDATE {beside}.facts b SET embedding = l.embedding, embedding_model = l.embedding_model
FROM {live}.facts l WHERE l.fact_id = b.fact_id AND l.text = b.text AND b.embedding IS NULL AND l.embedding IS NOT NULL;

-- name: carry_chunk_vectors
UPDATE {beside}.chunks b SET embedding = l.embedding, embedding_model = l.embedding_model
FROM {live}.chunks l WHERE l.chunk_id = b.chunk_id AND l.heading = b.heading AND l.text = b.text
  AND b.embedding IS NULL AND l.embedding IS NOT NULL;

-- name: carry_said_vectors
UPDATE {beside}.conversation_passages b SET embedding = l.embedding, embedding_model = l.embedding_model
FROM {live}.conversation_passages l WHERE l.passage_id = b.passage_id AND l.text = b.text
  AND b.embedding IS NULL AND l.embedding IS NOT NULL;

-- name: carry_summary_vectors
UPDATE {beside}.thread_summaries b SET embedding = l.embedding, embedding_model = l.embedding_model
FROM {live}.thread_summaries l WHERE l.summary_id = b.summary_id AND l.text = b.text
  AND b.embedding IS NULL AND l.embedding IS NOT NULL;

-- name: grants
-- What other roles may do with a table, as statements for the one that takes its place.
SELECT format('GRANT %%s ON %%I.%%I TO %%s', a.privilege_type, %(schema)s::text, c.relname,
              CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END) AS statement
FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = %(live)s::regnamespace AND c.relname = ANY(%(tables)s) AND a.grantee <> c.relowner;

-- name: hashed_columns
-- The columns of a table that count, as `state_hash` counts them.
SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS columns
FROM information_schema.columns c
WHERE c.table_schema = %(schema)s AND c.table_name = %(table)s AND c.is_generated = 'NEVER'
  AND coalesce(col_description(format('%%I.%%I', c.table_schema, c.table_name)::regclass, c.ordinal_position), '')
      NOT ILIKE '%%outside of every state hash%%';

-- name: only_in
-- Rows of one schema's table that the other's does not have.
SELECT to_jsonb(d) AS row FROM (
    SELECT {columns} FROM {one}.{table} EXCEPT SELECT {columns} FROM {other}.{table}) AS d
ORDER BY to_jsonb(d)::text LIMIT %(limit)s;
