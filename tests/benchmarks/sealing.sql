-- name: some
SELECT * FROM events WHERE id = ANY(%(ids)s) ORDER BY seq;
