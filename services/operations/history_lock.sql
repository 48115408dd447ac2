-- name: hold
-- Until the end of the transaction.
SELECT pg_try_advisory_xact_lock(hashtextextended(%(name)s, 0)) AS held;

-- name: hold_on
-- Until the end of the connection.
SELECT pg_try_advisory_lock(hashtextextended(%(name)s, 0)) AS held;

-- name: still
SELECT 1 AS here;
