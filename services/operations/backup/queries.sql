-- name: one_moment
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- name: export_snapshot
-- What pg_dump sees, too.
SELECT pg_export_snapshot() AS snapshot;

-- name: extent
-- The time is the server's, like that of each event's storing, and later than the snapshot.
SELECT count(*) AS events, coalesce(max(seq), 0) AS last_seq, clock_timestamp() AS taken_at,
       (SELECT max(last_stored_at) FROM archives) AS archived_until FROM events;

-- name: deployment
-- Whether there is a deployment in the database.
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

-- name: newest_archived
-- Up to when events have left the table for files.
SELECT max(last_stored_at) AS at FROM archives;

-- name: choose_later
-- What happened after a moment; of an aggregate all from its first version after it.
CREATE TEMP TABLE later ON COMMIT DROP AS
SELECT id FROM (
    SELECT id, bool_or(time > {until}) OVER (PARTITION BY workspace, aggregate, aggregate_id ORDER BY version) AS late
    FROM events WHERE version IS NOT NULL) AS versions
WHERE late
UNION SELECT id FROM events WHERE version IS NULL AND time > {until};

-- name: forget_receipts
-- Mails that came later may come again.
DELETE FROM receipts WHERE mail_id IN (
    SELECT e.key::uuid FROM events e JOIN later USING (id) WHERE e.type = 'mail.received.v1');

-- name: forget_later_timers
DELETE FROM timers WHERE causation_id IN (SELECT id FROM later);

-- name: set_timers_again
-- Timers that had been set by then, and have come since.
INSERT INTO timers (id, workspace, due_at, correlation_id, causation_id, event)
SELECT DISTINCT ON (e.data ->> 'timer_id') (e.data ->> 'timer_id')::uuid, e.workspace, e.time, e.correlation_id, e.causation_id, e.data
FROM events e JOIN later USING (id)
WHERE e.type = 'timer.elapsed.v1' AND e.causation_id NOT IN (SELECT id FROM later)
ORDER BY e.data ->> 'timer_id', e.time
ON CONFLICT (id) DO NOTHING;

-- name: forget_later_work
DELETE FROM journal WHERE event_id IN (SELECT id FROM later);

-- name: forget_later
DELETE FROM events WHERE id IN (SELECT id FROM later);

-- name: remember_copy
-- A copy of the keys was written; the same path again is the newer file.
INSERT INTO key_copies (path, taken_at, until) VALUES (%(path)s, %(taken_at)s, %(until)s)
ON CONFLICT (path) DO UPDATE SET taken_at = excluded.taken_at, until = excluded.until;

-- name: copies
-- The copies of keys that were written, newest first.
SELECT path, taken_at, until FROM key_copies ORDER BY taken_at DESC, path;

-- name: forget_copy
DELETE FROM key_copies WHERE path = %(path)s;
