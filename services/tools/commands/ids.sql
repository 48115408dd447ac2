-- name: threads
-- Threads whose id begins so.
SELECT thread_id AS id FROM threads
WHERE workspace = %(workspace)s AND starts_with(thread_id::text, %(beginning)s) LIMIT 2;

-- name: replies
-- Replies whose id begins so.
SELECT reply_id AS id FROM deliveries
WHERE workspace = %(workspace)s AND starts_with(reply_id::text, %(beginning)s) LIMIT 2;
