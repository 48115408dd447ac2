-- name: note
-- A service is away; since when is kept from the first note. `new` where nobody had noted it.
INSERT INTO outages (workspace, service, since, error, next_probe)
VALUES (%(workspace)s, %(service)s, %(now)s, %(error)s, %(next_probe)s)
ON CONFLICT (workspace, service) DO UPDATE
SET error = excluded.error, next_probe = excluded.next_probe, noted_at = clock_timestamp()
RETURNING xmax = 0 AS new;

-- name: clear
DELETE FROM outages WHERE workspace = %(workspace)s AND service = %(service)s;

-- name: found
SELECT service, since, error, next_probe, noted_at FROM outages WHERE workspace = %(workspace)s ORDER BY since, service;
