-- name: current
-- The newest row of each name, and the newest version of all.
SELECT DISTINCT ON (name) name, is_set, value, version, at, by, reason, max(version) OVER () AS newest
FROM settings_changes WHERE workspace = %(workspace)s ORDER BY name, version DESC;

-- name: newest
SELECT coalesce(max(version), 0) AS version FROM settings_changes WHERE workspace = %(workspace)s;
