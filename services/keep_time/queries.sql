-- name: prepare_day
-- The journal's partition of one day, unless it stands.
SELECT make_journal_day(%(day)s);
