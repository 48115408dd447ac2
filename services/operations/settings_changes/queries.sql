-- name: lock
-- One change of the workspace at a time, until the end of the transaction: versions count without gaps, and what was
-- checked together is stored together.
SELECT pg_advisory_xact_lock(hashtextextended('settings ' || %(workspace)s, 0));

-- name: history
-- Every row, oldest first: what held at any version follows from it.
SELECT version, name, is_set, value, at, by, reason, undoes FROM settings_changes
WHERE workspace = %(workspace)s ORDER BY version, name;

-- name: add
INSERT INTO settings_changes (workspace, version, name, is_set, value, at, by, reason, undoes)
SELECT %(workspace)s, %(version)s, one.name, one.is_set, one.value, %(at)s, %(by)s, %(reason)s, %(undoes)s
FROM unnest(%(names)s::text[], %(are_set)s::boolean[], %(all_values)s::jsonb[]) AS one (name, is_set, value);

-- name: page
-- Changes, the newest first, each with all its rows.
SELECT version, name, is_set, value, at, by, reason, undoes FROM settings_changes
WHERE workspace = %(workspace)s AND version IN (
    SELECT DISTINCT version FROM settings_changes
    WHERE workspace = %(workspace)s AND version < %(after_version)s ORDER BY version DESC LIMIT %(limit)s)
ORDER BY version DESC, name;
