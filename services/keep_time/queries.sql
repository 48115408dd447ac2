-- name: prepare_day
-- The journal's partition of one day, unless it stands.
SELECT make_journal_day(%(day)s);

-- name: next_timer
-- When the next timer is due, or is looked at again where this version could not read it.
SELECT least((SELECT due_at FROM timers WHERE look_at IS NULL ORDER BY due_at LIMIT 1),
             (SELECT look_at FROM timers WHERE look_at IS NOT NULL ORDER BY look_at LIMIT 1)) AS due_at;
