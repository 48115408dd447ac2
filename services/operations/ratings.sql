-- name: ratable
-- A reply that left and whose text is kept, with the rating of its turn.
SELECT d.thread_id, d.turn_id, d.inbox, r.good, coalesce(r.comment, '') AS comment, r.rated_at,
       coalesce(r.changes, 0) AS changes
FROM deliveries d JOIN conversation c ON c.thread_id = d.thread_id AND c.reply_id = d.reply_id AND c.gone_at IS NULL
LEFT JOIN reply_ratings r ON r.turn_id = d.turn_id
WHERE d.workspace = %(workspace)s AND d.reply_id = %(reply_id)s LIMIT 1;
