-- name: mails
-- The mails of the turn, each with when it was written: a date in its words counts from there.
SELECT mail_id, participant_id, message_id, subject, text, author_name, author_addr,
       written_at(mode, sent_at, received_at) AS written_at
FROM mails WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at, mail_id;

-- name: summary
-- What the author of the turn and we have said in the thread, under the address that they write from: what is written
-- here stays with that address when people are taken apart.
SELECT text, covers_to FROM thread_summaries
WHERE thread_id = %(thread_id)s AND participant_id IS NOT DISTINCT FROM %(author_id)s AND trusted = %(trusted)s;

-- name: people
-- The author under each of their addresses.
SELECT person_ids(%(participant_id)s) AS ids;

-- name: briefs
-- The brief that holds, then what is to be merged into it, and by which names all of them are known.
SELECT version, text, by, written_at, shown FROM person_briefs(%(participant_id)s);

-- name: participant
SELECT name, addr, state FROM participants WHERE participant_id = %(participant_id)s;

-- name: facts
-- What is believed now, the most important first: what UPDATE and DELETE may refer to.
SELECT fact_id, kind, key, value, text, recorded_at FROM facts
WHERE workspace = %(workspace)s AND superseded_at IS NULL
  AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
ORDER BY importance DESC, recorded_at DESC LIMIT %(facts_shown)s;

-- name: issues
-- The issues that they reported, the latest first, so that a repeat gets the same key.
SELECT issue_key, reports, resolved FROM participant_issues
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s ORDER BY last_at DESC, issue_key LIMIT %(issues_shown)s;

-- name: conversation
-- What the author has seen (load_memory says how that is told) and the summary does not cover yet, oldest first: what
-- is over the limit is covered after the next turn. Of a proven author's turn nothing that nobody proven wrote.
SELECT c.version, c.role, c.text, written_at(m.mode, m.sent_at, c.at) AS at, c.mail_id,
       c.trusted AND (c.role <> 'customer' OR coalesce(m.trusted, false)) AS trusted, m.participant_id AS author_id,
       coalesce(nullif(m.author_name, ''), m.author_addr, '') AS author, coalesce(m.author_addr, '') AS address
FROM conversation c LEFT JOIN mails m ON m.mail_id = CASE WHEN c.mail_id IS NULL THEN c.reply_id ELSE c.mail_id END
LEFT JOIN deliveries d ON d.reply_id = c.reply_id
WHERE c.thread_id = %(thread_id)s AND c.version > %(covers_to)s AND c.gone_at IS NULL
  AND (NOT %(trusted)s OR c.role <> 'customer' OR coalesce(m.trusted, false))
  AND NOT (%(trusted)s AND c.role = 'agent' AND d.turn_id IS NOT NULL AND unproven_turn(d.turn_id))
  AND coalesce(%(addr)s = ANY(m.recipients || m.author_addr), lower(d.recipient COLLATE "C") = %(addr)s, true)
ORDER BY c.version LIMIT %(messages_shown)s;

-- name: size
-- How many messages the thread has, and how many of them its summary covers.
SELECT count(*) AS messages, count(*) FILTER (WHERE version <= %(covers_to)s) AS covered FROM conversation
WHERE thread_id = %(thread_id)s;

-- name: opened
-- How a turn was opened, where it is open and, unless the model is asked again, nobody was asked about it yet.
SELECT e.* FROM turns u JOIN events e
    ON e.key = %(thread_id)s::text AND e.type = 'turn.opened.v1' AND e.data ->> 'turn_id' = u.turn_id::text
WHERE u.turn_id = %(turn_id)s AND u.closed_at IS NULL
  AND (%(asked_again)s OR NOT EXISTS (
      SELECT FROM events r WHERE r.key = %(thread_id)s::text AND r.type = 'turn.reflected.v1'
      AND r.data ->> 'turn_id' = %(turn_id)s::text))
LIMIT 1;

-- name: still_open
SELECT 1 AS open FROM turns WHERE turn_id = %(turn_id)s AND closed_at IS NULL;

-- name: reflected
-- What was learned last from a turn.
SELECT e.* FROM events e
WHERE e.key = %(thread_id)s::text AND e.type = 'turn.reflected.v1' AND e.data ->> 'turn_id' = %(turn_id)s::text
ORDER BY e.seq DESC LIMIT 1;
