-- name: versions
-- Where some aggregates stand.
SELECT a.workspace, a.kind, a.id, a.version FROM aggregates a
JOIN unnest(%(workspaces)s::text[], %(kinds)s::text[], %(ids)s::uuid[]) AS w (workspace, kind, id)
    USING (workspace, kind, id);

-- name: keep_versions
-- Where some aggregates stand now.
INSERT INTO aggregates (workspace, kind, id, version)
SELECT * FROM unnest(%(workspaces)s::text[], %(kinds)s::text[], %(ids)s::uuid[], %(versions)s::int[])
ON CONFLICT (workspace, kind, id) DO UPDATE SET version = excluded.version;

-- name: hash_statements
-- One statement a table that hashes its rows in any order. A column is left out where it is generated, or where its
-- comment says that it stands outside of every state hash (vectors are a cache).
SELECT c.table_name AS name,
       format('SELECT encode(sha256(coalesce(string_agg(line, ''''::bytea ORDER BY line), '''')), ''hex'') AS hash '
              'FROM (SELECT sha256(convert_to(jsonb_build_array(%%s)::text, ''UTF8'')) AS line FROM %%I%%s) AS lines',
              string_agg(format('%%I', c.column_name), ', ' ORDER BY c.column_name), c.table_name,
              CASE c.table_name WHEN 'aggregates' THEN ' WHERE version > 0' ELSE '' END) AS statement
FROM information_schema.columns c
WHERE c.table_schema = current_schema() AND c.table_name = ANY(%(tables)s) AND c.is_generated = 'NEVER'
  AND coalesce(col_description(c.table_name::regclass, c.ordinal_position), '') NOT ILIKE '%%outside of every state hash%%'
GROUP BY c.table_name ORDER BY c.table_name;

-- name: speak_utc
-- Times are hashed as text: everybody must write them alike.
SELECT set_config('TimeZone', 'UTC', false);

-- name: in_no_hurry
-- A rebuild that a crash cut short is made again: it need not wait for the disk at each batch.
SELECT set_config('synchronous_commit', 'off', false);
