-- name: lock_message
-- One mail at a time under one Message-ID: the same mail may come to several inboxes at once.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace)s || chr(31) || %(message_id)s, 0));

-- name: same_mail
-- The mail that this one doubles: the same Message-ID and body, or the same signature whatever its Message-ID, of the
-- same author, received before, and believed no less than this one. A copy that somebody else sent first, in the author's
-- name or their own, takes nothing away from it; nor does one of other bytes that was set aside (its headers may be
-- another's).
SELECT mail_id, inbox FROM mails
WHERE workspace = %(workspace)s AND author_addr = %(author)s AND mail_id <> %(mail_id)s
  AND (message_id = %(message_id)s AND content_sha256 = %(content_sha256)s
       OR %(trusted)s AND signatures && %(signatures)s::text[])
  AND verdict <> 'duplicate' AND (verdict NOT IN ('park', 'loop') OR blob = %(blob)s)
  AND (trusted OR (NOT %(trusted)s AND (identity <> 'failed' OR %(failed)s)))
LIMIT 1;

-- name: lock_signature
-- One copy of a signed mail at a time, whatever Message-IDs they carry.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace)s || chr(31) || %(signature)s, 3));

-- name: our_replies
-- Replies of ours by Message-ID.
SELECT reply_id, thread_id, recipient, cc FROM deliveries
WHERE workspace = %(workspace)s AND message_id = ANY(%(ids)s) AND state <> 'discarded';

-- name: threads_of_ids
-- The threads that hold or await these Message-IDs.
SELECT DISTINCT thread_id FROM message_threads WHERE workspace = %(workspace)s AND message_id = ANY(%(ids)s);

-- name: known_threads
-- What placing needs of some threads; of their ids only those that were asked for.
SELECT f.thread_id, f.participant_id, f.space, f.author_addr, f.subject, f.trusted, f.identity,
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
FROM (SELECT DISTINCT ON (thread_id) thread_id, participant_id, space, author_addr, subject, trusted, identity FROM mails
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
SELECT DISTINCT ON (e.aggregate_id) e.* FROM colleagues_answers(%(answered)s) AS m (mail_id)
JOIN events e ON e.aggregate = 'mail' AND e.aggregate_id = m.mail_id AND e.type = 'email.read.v1'
WHERE e.workspace = %(workspace)s AND e.version IS NOT NULL
ORDER BY e.aggregate_id, e.version DESC;

-- name: lock_unproven
-- One unproven mail at a time is counted, so that a burst does not pass a small bucket.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace)s || chr(31) || 'unproven', 2));

-- name: left_at
-- When the newest of these mails of ours left.
SELECT max(coalesce(d.sent_at, a.at)) AS at FROM deliveries d JOIN delivery_attempts a ON a.reply_id = d.reply_id
WHERE d.workspace = %(workspace)s AND d.message_id = ANY(%(ids)s) AND a.result IN ('sent', 'unknown');

-- name: left_for
-- When the newest mail of ours left for this address, of those that left since then.
SELECT max(departs_at) AS at FROM deliveries
WHERE workspace = %(workspace)s AND lower(recipient COLLATE "C") = %(author)s
  AND departs_at BETWEEN %(since)s AND %(now)s AND state IN ('sending', 'sent', 'unknown', 'bounced');

-- name: same_text
-- An earlier mail of the same author with the same text, whatever its subject.
SELECT mail_id FROM mails
WHERE workspace = %(workspace)s AND author_addr = %(author)s AND received_at BETWEEN %(since)s AND %(now)s
  AND mail_id <> %(mail_id)s AND text = %(text)s
LIMIT 1;

-- name: counts
-- How much this mailbox, its company, this thread, this body and everybody sent in the last hour, of what is believed as
-- far as this mail is; of unproven senders everybody is those of one inbox, and what came after this mail and was read
-- before it counts too. A mailbox is one whatever stands behind its plus. No pattern is matched: each mail of a burst
-- looks at all of the hour.
SELECT count(*) FILTER (WHERE author_addr = %(mailbox)s
                           OR (starts_with(author_addr, %(before_plus)s)
                               AND right(author_addr, length(%(at_domain)s::text)) = %(at_domain)s)) AS from_sender,
       count(*) FILTER (WHERE right(author_addr, length(%(company)s::text) + 1)
                              IN ('@' || %(company)s::text, '.' || %(company)s::text)) AS from_company,
       count(*) FILTER (WHERE thread_id = %(thread_id)s) AS in_thread,
       count(*) FILTER (WHERE content_sha256 = %(content_sha256)s AND author_addr = %(author)s) AS identical_bodies,
       count(*) FILTER (WHERE trusted OR inbox = %(inbox)s) AS in_all
FROM mails
WHERE workspace = %(workspace)s AND mode = 'live' AND verdict = 'answer' AND trusted = %(trusted)s
  AND received_at BETWEEN %(an_hour_ago)s AND CASE WHEN %(trusted)s THEN %(now)s ELSE %(now)s + interval '1 hour' END;

-- name: automatic_replies
-- Replies of the agent in a thread since a human last wrote in it.
SELECT count(*) AS n FROM conversation
WHERE thread_id = %(thread_id)s AND role = 'agent'
  AND version > coalesce((SELECT max(version) FROM conversation h
                          WHERE h.thread_id = %(thread_id)s AND h.role = 'human'), 0);

-- name: replies_to
-- Replies of ours that went to an address since then, in whatever thread: to its proven owner, or to whom only claims it.
SELECT count(*) AS n FROM deliveries d
WHERE workspace = %(workspace)s AND lower(recipient COLLATE "C") = %(author)s AND departs_at >= %(a_day_ago)s
  AND state IN ('sending', 'sent', 'unknown', 'bounced')
  AND %(trusted)s = coalesce((SELECT bool_and(m.trusted) FROM turns t JOIN mails m ON m.mail_id = ANY(t.mail_ids)
                              WHERE t.turn_id = d.turn_id), false);

-- name: insert_mail
-- A mail of the Sent folder is read again when what it answers has come; when it was received does not change.
INSERT INTO mails (mail_id, workspace, thread_id, participant_id, inbox, space, mode, blob, message_id, content_sha256,
                   subject, author_name, author_addr, author_written, recipients, references_ids, received_at, sent_at, text,
                   quoted, signature, language, identity, trusted, signatures, verdict, reason, filter, flags,
                   answered_ids, attachments)
VALUES (%(mail_id)s, %(workspace)s, %(thread_id)s, %(participant_id)s, %(inbox)s, %(space)s, %(mode)s, %(blob)s, %(message_id)s,
        %(content_sha256)s, %(subject)s, %(author_name)s, %(author_addr)s, %(author_written)s, %(recipients)s,
        %(references_ids)s, %(at)s, %(sent_at)s, %(text)s, %(quoted)s, %(signature)s, %(language)s,
        %(identity_level)s, %(trusted)s, %(signatures)s, %(verdict_kind)s, %(reason)s,
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
UPDATE mails SET text = '', quoted = '', signature = '', gone_at = %(at)s, attachments = (
    SELECT coalesce(jsonb_agg(one || '{"text": ""}' ORDER BY place), '[]')
    FROM jsonb_array_elements(attachments) WITH ORDINALITY AS listed (one, place))
WHERE mail_id = %(mail_id)s;

-- name: give_mailbox
-- What the mail's own event says. A row that says it already is left alone.
UPDATE mails SET author_written = %(written)s, author_addr = %(key)s,
    participant_id = CASE WHEN participant_id = %(former)s THEN %(own)s ELSE participant_id END
WHERE workspace = %(workspace)s AND mail_id = %(mail_id)s AND author_written = '' AND author_addr <> '';

-- name: leave_mailbox
-- What nobody can read any more is as it is.
UPDATE mails SET author_written = author_addr
WHERE workspace = %(workspace)s AND author_written = '' AND author_addr <> '';
