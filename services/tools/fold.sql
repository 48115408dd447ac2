-- name: aggregate_events
-- Every event that changed an aggregate, in version order, as it was stored until a moment (null: until now).
SELECT * FROM events
WHERE version IS NOT NULL AND (%(until)s::timestamptz IS NULL OR stored_at <= %(until)s)
ORDER BY workspace, aggregate, aggregate_id, version;

-- name: advance
-- The aggregate comes to this version; no row where it is there already. `before` is where it stood.
WITH old AS (SELECT version FROM aggregates WHERE workspace = %(workspace)s AND kind = %(kind)s AND id = %(id)s)
INSERT INTO aggregates (workspace, kind, id, version) VALUES (%(workspace)s, %(kind)s, %(id)s, %(version)s)
ON CONFLICT (workspace, kind, id) DO UPDATE SET version = excluded.version
    WHERE aggregates.version < excluded.version
RETURNING coalesce((SELECT version FROM old), 0) AS before;

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
