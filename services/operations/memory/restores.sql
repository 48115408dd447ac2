-- name: earliest
-- The first moment at which anything was remembered.
SELECT min(recorded_at) AS at FROM facts WHERE workspace = %(workspace)s;

-- name: set_aside
-- Whoever looks at another moment gives up what was looked at and not confirmed.
UPDATE restores SET state = 'stopped', ended_by = %(by)s, ended_at = %(now)s
WHERE workspace = %(workspace)s AND state IN ('looking', 'looked');

-- name: forget_old
DELETE FROM restores WHERE workspace = %(workspace)s AND restore_id IN (
    SELECT restore_id FROM restores WHERE workspace = %(workspace)s AND ended_at IS NOT NULL
    ORDER BY asked_at DESC, restore_id OFFSET %(kept)s);

-- name: begin
-- No row where one of the workspace is under way.
INSERT INTO restores (restore_id, workspace, at, by, asked_at, people)
VALUES (%(restore_id)s, %(workspace)s, %(at)s, %(by)s, %(now)s, %(people)s)
ON CONFLICT DO NOTHING RETURNING restore_id;

-- name: restores
-- One by its id, or all, the newest first.
SELECT restore_id, at, by, asked_at, state, people, reached, changed, kinds, sample, confirmed_by, confirmed_at,
       confirmed_at - interval '1 microsecond' AS before, facts, refused, waits, ended_by, ended_at
FROM restores WHERE workspace = %(workspace)s AND (%(restore_id)s::uuid IS NULL OR restore_id = %(restore_id)s)
ORDER BY asked_at DESC, restore_id;

-- name: under_way
-- What the process that keeps time has to do.
SELECT restore_id, at, state, place, kinds, sample, confirmed_by, confirmed_at FROM restores
WHERE workspace = %(workspace)s AND ended_at IS NULL AND state IN ('looking', 'restoring');

-- name: note_looked
UPDATE restores SET place = %(place)s, reached = reached + 1, changed = changed + %(changed)s, kinds = %(kinds)s, sample = %(sample)s,
    people = greatest(people, reached + 1)
WHERE restore_id = %(restore_id)s AND state = 'looking';

-- name: end_looking
UPDATE restores SET state = 'looked', people = reached WHERE restore_id = %(restore_id)s AND state = 'looking';

-- name: confirm
-- Bound to what was seen of it: how many people it changes.
UPDATE restores SET state = 'restoring', confirmed_by = %(by)s, confirmed_at = %(now)s, reached = 0,
    place = '00000000-0000-0000-0000-000000000000'
WHERE workspace = %(workspace)s AND restore_id = %(restore_id)s AND state = 'looked' AND changed = %(people)s AND changed > 0;

-- name: note_restored
-- What was granted and refused of a person; where all of it is decided, they are done.
UPDATE restores SET facts = facts + %(facts)s, refused = refused + %(refused)s, waits = %(waits)s,
    place = CASE WHEN %(done)s THEN %(place)s ELSE place END,
    reached = reached + CASE WHEN %(done)s THEN 1 ELSE 0 END,
    people = greatest(people, reached + CASE WHEN %(done)s THEN 1 ELSE 0 END)
WHERE restore_id = %(restore_id)s AND state = 'restoring';

-- name: end_restoring
UPDATE restores SET state = 'done', ended_at = %(now)s, people = reached
WHERE restore_id = %(restore_id)s AND state = 'restoring';

-- name: stop
UPDATE restores SET state = 'stopped', ended_by = %(by)s, ended_at = %(now)s
WHERE workspace = %(workspace)s AND restore_id = %(restore_id)s AND ended_at IS NULL;

-- name: people
SELECT participant_id, space, addr, name, state, risk, sentiment, tags, first_seen_at, last_seen_at FROM participants
WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s) ORDER BY participant_id;
