-- name: keep
-- The last answer to a webhook; none where somebody who wrote in the thread was erased.
INSERT INTO webhook_answers (webhook_id, endpoint_id, workspace, thread_id, answer, at)
SELECT %(webhook_id)s, %(endpoint_id)s, %(workspace)s, %(thread_id)s, %(answer)s, %(at)s
WHERE NOT EXISTS (SELECT FROM erasures WHERE threads @> ARRAY[%(thread_id)s::uuid])
ON CONFLICT (webhook_id) DO UPDATE SET answer = excluded.answer, at = excluded.at;

-- name: forget_old
DELETE FROM webhook_answers WHERE workspace = %(workspace)s AND at < %(before)s;

-- name: forget_threads
DELETE FROM webhook_answers WHERE thread_id = ANY(%(threads)s);
