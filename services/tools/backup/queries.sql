-- name: one_moment
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- name: export_snapshot
-- What pg_dump sees, too.
SELECT pg_export_snapshot() AS snapshot;

-- name: extent
-- The time is the server's, like that of each event's storing, and later than the snapshot.
SELECT count(*) AS events, coalesce(max(seq), 0) AS last_seq, clock_timestamp() AS taken_at FROM events;

-- name: house
-- Whether there is a house in the database.
SELECT to_regclass('events') IS NOT NULL AS there;

-- name: table_there
SELECT to_regclass(%(name)s) IS NOT NULL AS there;

-- name: make_app_role
-- Roles belong to the server, not to the database: the policies of the dump need this one (migration 0030).
DO $$
BEGIN
    CREATE ROLE correspondent_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;

-- name: hold_sending
-- Nothing leaves until a person has looked; what was approved before `taken_at` may have left since.
INSERT INTO sending_holds (workspace, since, taken_at, reason)
SELECT DISTINCT workspace, %(now)s::timestamptz, %(taken_at)s::timestamptz, %(reason)s FROM events
UNION SELECT %(workspace)s, %(now)s::timestamptz, %(taken_at)s::timestamptz, %(reason)s
ON CONFLICT (workspace) DO UPDATE SET since = excluded.since, taken_at = excluded.taken_at, reason = excluded.reason;

-- name: archives_are_here
-- The files were brought to where the settings say.
UPDATE archives SET place = '';

-- name: workspaces
SELECT DISTINCT workspace FROM aggregates;

-- name: hold
SELECT since, taken_at, reason FROM sending_holds WHERE workspace = %(workspace)s;

-- name: release_sending
DELETE FROM sending_holds WHERE workspace = %(workspace)s;
