-- name: prepare_day
-- The journal's partition of one day, unless it stands.
SELECT make_journal_day(%(day)s);

-- name: put_off
-- A timer that cannot be read is looked at again tomorrow, by a newer version perhaps; it stands in nobody's way.
UPDATE timers SET due_at = due_at + interval '1 day' WHERE id = %(id)s;
