-- name: teams
-- Teams with the names of their members, by name.
SELECT t.team_id, t.name, t.inboxes, ARRAY(
    SELECT u.name FROM users u
    WHERE u.workspace = t.workspace AND u.user_id = ANY(t.members) AND u.removed_at IS NULL ORDER BY u.name_key) AS members
FROM teams t WHERE t.workspace = %(workspace)s ORDER BY t.name_key;

-- name: add_team
-- No row where a user has the name, or had it.
INSERT INTO teams (team_id, workspace, name, name_key, members, inboxes)
SELECT %(team_id)s, %(workspace)s, %(name)s, %(name_key)s, %(members)s, %(inboxes)s
WHERE NOT EXISTS (SELECT FROM users WHERE workspace = %(workspace)s AND name_key = %(name_key)s)
RETURNING team_id;

-- name: change_team
UPDATE teams SET members = %(members)s, inboxes = %(inboxes)s
WHERE workspace = %(workspace)s AND team_id = %(team_id)s RETURNING team_id;

-- name: remove_team
DELETE FROM teams WHERE workspace = %(workspace)s AND team_id = %(team_id)s;

-- name: has_threads
-- Whether any open thread is a team's.
SELECT 1 AS one FROM threads
WHERE workspace = %(workspace)s AND assignee = %(name)s AND assignee <> '' AND state NOT IN ('resolved', 'closed') LIMIT 1;
