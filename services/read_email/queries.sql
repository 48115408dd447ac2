-- name: lock_message
-- One mail at a time under one Message-ID: the same mail may come to several inboxes at once.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace)s || chr(31) || %(message_id)s, 0));

-- name: same_mail
-- The mail that this one doubles: the same Message-ID and body, received before.
SELECT mail_id, inbox FROM mails
WHERE workspace = %(workspace)s AND message_id = %(message_id)s AND content_sha256 = %(content_sha256)s
  AND mail_id <> %(mail_id)s AND verdict <> 'duplicate'
LIMIT 1;

-- name: our_replies
-- Replies of ours by Message-ID.
SELECT reply_id, thread_id, message_id, recipient FROM deliveries
WHERE workspace = %(workspace)s AND message_id = ANY(%(ids)s) AND state <> 'discarded';

-- name: threads_of_ids
-- The threads that hold or await these Message-IDs.
SELECT DISTINCT thread_id FROM message_threads WHERE workspace = %(workspace)s AND message_id = ANY(%(ids)s);

-- name: known_threads
-- What placing needs of some threads; of their ids only those that were asked for.
SELECT f.thread_id, f.author_addr, f.subject,
       CASE WHEN t.state = 'closed' THEN t.changed_at END AS closed_at,
       ARRAY(SELECT message_id FROM mails h WHERE h.thread_id = f.thread_id AND h.message_id = ANY(%(ids)s)
             AND h.verdict IN ('answer', 'human', 'colleague')) AS message_ids,
       ARRAY(SELECT message_id FROM message_threads x
             WHERE x.thread_id = f.thread_id AND x.message_id = ANY(%(ids)s)) AS awaited,
       ARRAY(SELECT message_id FROM deliveries d
             WHERE d.thread_id = f.thread_id AND d.message_id = ANY(%(ids)s)) AS our_ids,
       ARRAY(SELECT DISTINCT p FROM mails m, unnest(m.recipients) AS p
             WHERE m.thread_id = f.thread_id AND m.trusted) AS participants,
       ARRAY(SELECT DISTINCT author_addr FROM mails m WHERE m.thread_id = f.thread_id AND m.trusted) AS verified
FROM (SELECT DISTINCT ON (thread_id) thread_id, author_addr, subject FROM mails
      WHERE thread_id = ANY(%(threads)s) AND verdict IN ('answer', 'human')
      ORDER BY thread_id, received_at, mail_id) f
LEFT JOIN threads t USING (thread_id);

-- name: other_addresses
-- The other addresses of the person who writes.
SELECT addr FROM participants
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND participant_id <> %(participant_id)s;

-- name: read_by_hand
-- The events of colleagues' mails that answer this one, each as it was last read.
SELECT DISTINCT ON (e.aggregate_id) e.* FROM mails m
JOIN events e ON e.aggregate = 'mail' AND e.aggregate_id = m.mail_id AND e.type = 'email.read.v1'
WHERE m.workspace = %(workspace)s AND m.filter = 'sent_folder' AND m.answered_ids @> %(answered)s
ORDER BY e.aggregate_id, e.version DESC;

-- name: counts
-- How much this sender, this thread, this body and everybody sent in the last hour.
SELECT count(*) FILTER (WHERE author_addr = %(author)s) AS from_sender,
       count(*) FILTER (WHERE thread_id = %(thread_id)s) AS in_thread,
       count(*) FILTER (WHERE content_sha256 = %(content_sha256)s AND author_addr = %(author)s) AS identical_bodies,
       count(*) AS in_all
FROM mails
WHERE workspace = %(workspace)s AND mode = 'live' AND verdict = 'answer'
  AND received_at BETWEEN %(since)s AND %(now)s;

-- name: automatic_replies
-- Replies of the agent in a thread since a human last wrote in it.
SELECT count(*) AS n FROM conversation
WHERE thread_id = %(thread_id)s AND role = 'agent'
  AND version > coalesce((SELECT max(version) FROM conversation h
                          WHERE h.thread_id = %(thread_id)s AND h.role = 'human'), 0);

-- name: replies_to
-- Replies of ours that went to an address since then, in whatever thread.
SELECT count(*) AS n FROM deliveries
WHERE workspace = %(workspace)s AND lower(recipient) = %(addr)s AND departs_at >= %(since)s
  AND state IN ('sending', 'sent', 'unknown', 'bounced');

-- name: insert_mail
-- A mail of the Sent folder is read again when what it answers has come; when it was received does not change.
INSERT INTO mails (mail_id, workspace, thread_id, participant_id, inbox, mode, blob, message_id, content_sha256,
                   subject, author_name, author_addr, recipients, references_ids, received_at, sent_at, text,
                   language, identity, trusted, verdict, reason, filter, flags, answered_ids,
                   attachments)
VALUES (%(mail_id)s, %(workspace)s, %(thread_id)s, %(participant_id)s, %(inbox)s, %(mode)s, %(blob)s, %(message_id)s,
        %(content_sha256)s, %(subject)s, %(author_name)s, %(author_addr)s, %(recipients)s, %(references_ids)s,
        %(at)s, %(sent_at)s, %(text)s, %(language)s, %(identity_level)s, %(trusted)s, %(verdict_kind)s, %(reason)s,
        %(filter)s, %(flag_list)s, %(answered_ids)s, %(attachments)s)
ON CONFLICT (mail_id) DO UPDATE SET thread_id = excluded.thread_id, participant_id = excluded.participant_id,
    verdict = excluded.verdict, reason = excluded.reason;

-- name: insert_message_thread
INSERT INTO message_threads (workspace, message_id, thread_id)
VALUES (%(workspace)s, %(message_id)s, %(thread_id)s) ON CONFLICT DO NOTHING;

-- name: due_mails
-- Those of some mails that came before a moment, still have their text, and that nobody needs right now.
SELECT mail_id, thread_id, participant_id FROM mails
WHERE mail_id = ANY(%(mail_ids)s) AND received_at < %(before)s AND gone_at IS NULL AND thread_rests(thread_id)
ORDER BY mail_id;

-- name: empty_mail
-- The text is kept no longer, nor what attachments say; who wrote when, about what, with which files, stays.
UPDATE mails SET text = '', gone_at = %(at)s, attachments = (
    SELECT coalesce(jsonb_agg(one || '{"text": ""}' ORDER BY place), '[]')
    FROM jsonb_array_elements(attachments) WITH ORDINALITY AS listed (one, place))
WHERE mail_id = %(mail_id)s;
