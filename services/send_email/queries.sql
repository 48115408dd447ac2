-- name: delivery
SELECT * FROM deliveries WHERE reply_id = %(reply_id)s;

-- name: attempt_began
-- When the first attempt of a reply was made.
SELECT min(at) AS at FROM delivery_attempts WHERE reply_id = %(reply_id)s;

-- name: still_wanted
-- Whether the turn is still open, whether a mail that it does not cover has come, and whether a colleague has answered
-- one that it does (read_email's own rows).
SELECT t.open_turn = %(turn_id)s AS open, t.state,
       EXISTS (SELECT 1 FROM mails m WHERE m.thread_id = t.thread_id AND m.verdict = 'answer' AND m.mode = 'live'
               AND NOT m.mail_id = ANY(u.mail_ids) AND m.received_at >= u.opened_at) AS newer,
       EXISTS (SELECT 1 FROM mails q JOIN mails h ON h.thread_id = t.thread_id AND h.filter = 'sent_folder'
               AND h.verdict = 'colleague' AND h.mode = 'live' AND h.answered_ids @> ARRAY[q.message_id]
               WHERE q.mail_id = ANY(u.mail_ids)) AS by_hand
FROM threads t LEFT JOIN turns u ON u.turn_id = %(turn_id)s
WHERE t.thread_id = %(thread_id)s;

-- name: newest_mail
-- The newest mail that is answered: its author is the one recipient.
SELECT mail_id, message_id, references_ids, subject, author_name, author_addr, identity, trusted, received_at
FROM mails WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at DESC, mail_id DESC LIMIT 1;

-- name: lock_inbox
-- One sender of an inbox at a time finds the next moment.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace)s || chr(31) || %(inbox)s, 1));

-- name: nth_departure
-- The departure before which `before` others of the inbox stand, counted back from the last; kept moments count.
SELECT departs_at FROM deliveries
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND departs_at IS NOT NULL AND state <> 'discarded'
  AND reply_id <> %(reply_id)s
ORDER BY departs_at DESC OFFSET %(before)s LIMIT 1;

-- name: suppressed
SELECT reason FROM suppressions WHERE workspace = %(workspace)s AND addr = %(addr)s;

-- name: upsert_delivery
INSERT INTO deliveries (reply_id, workspace, thread_id, turn_id, inbox, state, message_id, blob, recipient,
                        envelope_from, detail, created_at, changed_at)
VALUES (%(reply_id)s, %(workspace)s, %(thread_id)s, %(turn_id)s, %(inbox)s, %(to_state)s, %(message_id)s, %(blob)s,
        %(recipient)s, %(envelope_from)s, %(detail)s, %(at)s, %(at)s)
ON CONFLICT (reply_id) DO UPDATE SET state = excluded.state, message_id = excluded.message_id, blob = excluded.blob,
    recipient = excluded.recipient, envelope_from = excluded.envelope_from, detail = excluded.detail,
    changed_at = excluded.changed_at;

-- name: set_state
UPDATE deliveries SET state = %(to_state)s, attempt = greatest(attempt, %(attempt)s), detail = %(detail)s,
    retry_at = %(retry_at)s, departs_at = coalesce(%(departs_at)s, departs_at), changed_at = %(at)s
WHERE reply_id = %(reply_id)s;

-- name: log_attempt
INSERT INTO delivery_attempts (reply_id, version, workspace, at, attempt, result, detail)
VALUES (%(reply_id)s, %(version)s, %(workspace)s, %(at)s, %(attempt)s, %(to_state)s, %(detail)s);

-- name: suppress
-- The earliest reason stands, in whichever order the deliveries that bounced are folded.
INSERT INTO suppressions (workspace, addr, reason, mail_id, at)
VALUES (%(workspace)s, %(recipient)s, %(kind)s, %(mail_id)s, %(at)s)
ON CONFLICT (workspace, addr) DO UPDATE SET reason = excluded.reason, mail_id = excluded.mail_id, at = excluded.at
    WHERE (excluded.at, excluded.mail_id) < (suppressions.at, suppressions.mail_id);

-- name: approved
-- The event that approved the reply: all that an attempt needs.
SELECT * FROM events WHERE type = 'reply.approved.v1' AND aggregate = 'delivery' AND aggregate_id = %(reply_id)s
ORDER BY version DESC LIMIT 1;

-- name: draft
-- The draft as the model made it.
SELECT * FROM events WHERE key = %(thread_id)s AND type = 'reply.drafted.v1' AND data ->> 'reply_id' = %(reply_id)s;
