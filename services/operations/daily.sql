-- name: upkeep
-- When the deployment last saw to a task.
SELECT begun_at, done_at, report FROM upkeep WHERE workspace = %(workspace)s AND task = %(task)s;

-- name: begin_upkeep
INSERT INTO upkeep (workspace, task, begun_at) VALUES (%(workspace)s, %(task)s, %(at)s)
ON CONFLICT (workspace, task) DO UPDATE SET begun_at = excluded.begun_at, report = '{}';

-- name: end_upkeep
-- `done_at` is null where a step failed: it is gone through again before a day has passed.
UPDATE upkeep SET done_at = coalesce(%(done_at)s, done_at), report = %(report)s
WHERE workspace = %(workspace)s AND task = %(task)s;
