-- name: people
-- Who wrote in some threads.
SELECT thread_id, array_agg(DISTINCT participant_id) AS people FROM mails
WHERE thread_id = ANY(%(threads)s) AND participant_id IS NOT NULL GROUP BY thread_id;
