-- name: mails
-- The mails of a turn, oldest first.
SELECT mail_id, message_id, subject, text, author_name, author_addr, received_at, language, flags, attachments
FROM mails WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at, mail_id;

-- name: earlier_mails
-- How many customers' mails of the thread are not of this turn.
SELECT count(*) AS n FROM conversation
WHERE thread_id = %(thread_id)s AND role = 'customer' AND NOT mail_id = ANY(%(mail_ids)s);

-- name: participant
-- Whom we write to: as they were seen last, under whichever address.
SELECT name, addr, state, risk, sentiment, frustrated_in_row, tags, first_seen_at, last_seen_at
FROM participants WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
ORDER BY last_seen_at DESC, participant_id LIMIT 1;

-- name: profile
-- What our own people keep of the author.
SELECT DISTINCT ON (field) field, value FROM participant_profile
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) ORDER BY field, at DESC, participant_id;

-- name: issues
-- What this participant reported, newest first.
SELECT issue_key, sum(reports)::int AS reports, bool_and(resolved) AS resolved, min(first_at) AS first_at,
       max(last_at) AS last_at
FROM participant_issues WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
GROUP BY issue_key ORDER BY last_at DESC;

-- name: version
-- How far an aggregate has come; of a person who writes from several addresses, each of them.
SELECT string_agg(CASE WHEN id = %(id)s THEN version::text ELSE id || '.' || version END, '+' ORDER BY id <> %(id)s, id)
           AS version
FROM aggregates WHERE workspace = %(workspace)s AND kind = %(kind)s
  AND id = ANY((SELECT CASE %(kind)s WHEN 'participant' THEN person_ids(%(id)s) ELSE ARRAY[%(id)s]::uuid[] END)::uuid[]);

-- name: brief
SELECT text, updated_at FROM briefs WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
ORDER BY updated_at DESC, participant_id LIMIT 1;

-- name: session
-- The last hours with this participant, over or not.
SELECT thread_id, summary, entities, actions, updated_at, expires_at FROM sessions
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) ORDER BY updated_at DESC, participant_id LIMIT 1;

-- name: summary
SELECT text, covers_to, updated_at FROM thread_summaries WHERE thread_id = %(thread_id)s;

-- name: earlier_summaries
-- The participant's other threads, newest first: what they were about.
SELECT t.subject, t.state, s.text, s.updated_at FROM threads t JOIN thread_summaries s USING (thread_id)
WHERE t.workspace = %(workspace)s AND t.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND t.thread_id <> %(thread_id)s
ORDER BY s.updated_at DESC LIMIT %(limit)s;

-- name: thread
SELECT subject, state, opened_at, changed_at FROM threads WHERE thread_id = %(thread_id)s;

-- name: goals
SELECT goal_id, text, added_at FROM goals WHERE thread_id = %(thread_id)s AND closed_at IS NULL ORDER BY added_at, goal_id;

-- name: actions
SELECT action, detail, at FROM thread_actions WHERE thread_id = %(thread_id)s ORDER BY version DESC LIMIT 10;

-- name: relations
SELECT subject, predicate, object FROM relations
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND deleted_at IS NULL ORDER BY recorded_at DESC LIMIT 40;

-- name: recent
-- The thread's newest rows within the retention, and those that the summary does not cover yet, newest first; without
-- the mails that are being answered.
SELECT role, text, tokens, at FROM conversation
WHERE thread_id = %(thread_id)s AND gone_at IS NULL
  AND (at >= %(since)s OR version > coalesce((SELECT s.covers_to FROM thread_summaries s
                                              WHERE s.thread_id = %(thread_id)s), 0))
  AND (mail_id IS NULL OR NOT mail_id = ANY(%(mail_ids)s))
ORDER BY version DESC LIMIT %(limit)s;
