-- name: positions
-- Up to where each folder has been read.
SELECT inbox, folder, last_uid FROM inbox_positions WHERE workspace = %(workspace)s ORDER BY inbox, folder;
