-- name: threads_alone
-- The threads in which nobody but these people wrote.
SELECT thread_id FROM mails WHERE workspace = %(workspace)s
GROUP BY thread_id HAVING bool_and(coalesce(participant_id = ANY(%(people)s), false));

-- name: own_mails
SELECT mail_id FROM mails WHERE workspace = %(workspace)s AND participant_id = ANY(%(people)s);

-- name: rows
-- Rows of a table, without vectors.
SELECT to_jsonb(t) - 'embedding' - 'tsv' AS row FROM {table} t
WHERE workspace = %(workspace)s AND {column} = ANY(%(ids)s);

-- name: rows_with_mails
-- The same, and those of their mails in threads of others.
SELECT to_jsonb(t) - 'embedding' - 'tsv' AS row FROM {table} t
WHERE workspace = %(workspace)s AND ({column} = ANY(%(ids)s) OR mail_id = ANY(%(mails)s));
