-- name: threads_alone
-- The threads in which nobody but these people wrote.
SELECT thread_id FROM mails WHERE workspace = %(workspace)s
GROUP BY thread_id HAVING bool_and(coalesce(participant_id = ANY(%(people)s), false));

-- name: own_mails
SELECT mail_id FROM mails WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s);

-- name: mail_levels
-- How far the senders of some mails are believed.
SELECT mail_id AS id, identity AS level FROM mails WHERE mail_id = ANY(%(ids)s);

-- name: thread_levels
-- How far the senders of some threads are believed: of an older thread, in which there are several, the least.
SELECT DISTINCT ON (thread_id) thread_id AS id, identity AS level FROM mails
WHERE thread_id = ANY(%(ids)s) AND verdict IN ('answer', 'human')
ORDER BY thread_id, trusted, identity, mail_id;

-- name: rows
-- Rows of a table, without vectors.
SELECT to_jsonb(t) - 'embedding' - 'tsv' - 'words' AS row FROM {table} t
WHERE workspace = %(workspace)s AND {column} = ANY(%(ids)s);

-- name: rows_with_mails
-- The same, and those of their mails in threads of others.
SELECT to_jsonb(t) - 'embedding' - 'tsv' - 'words' AS row FROM {table} t
WHERE workspace = %(workspace)s AND ({column} = ANY(%(ids)s) OR mail_id = ANY(%(mails)s));
