-- name: delivery
SELECT reply_id, thread_id, turn_id, inbox, state, coalesce(message_id, '') AS message_id, coalesce(blob, '') AS blob,
       coalesce(recipient, '') AS recipient, cc, attempt, retry_at, departs_at, changed_at, sent_copy, copy_attempt
FROM deliveries WHERE reply_id = %(reply_id)s;

-- name: sending_hold
-- Whether nothing may leave, and the moment of the backup from which the deployment was restored.
SELECT taken_at, reason FROM sending_holds WHERE workspace = %(workspace)s;

-- name: attempt_began
-- When the first attempt of a reply was made.
SELECT min(at) AS at FROM delivery_attempts WHERE reply_id = %(reply_id)s;

-- name: still_wanted
-- Whether the turn is still open, whether a mail has come since that it does not cover (what waited when it opened is
-- another author's and has its turn later; what came before all that the turn answers is old), and whether a
-- colleague has answered one that it does (read_email's own rows). A turn that no mail asked for waits since it opened:
-- what a colleague answered before is old. Mail of ours that a rule began does not go to whom the rule would leave out by
-- now: who has written since, in whatever thread, has unsubscribed, is at risk, lost or with a person of ours.
SELECT t.open_turn = %(turn_id)s AS open, t.state, coalesce(u.by, '') AS by,
       EXISTS (SELECT 1 FROM mails m WHERE m.thread_id = t.thread_id AND m.verdict IN ('answer', 'human') AND m.mode = 'live'
               AND NOT m.mail_id = ANY(u.mail_ids) AND m.received_at >= u.waiting_since
               AND NOT EXISTS (SELECT 1 FROM conversation c WHERE c.thread_id = m.thread_id AND c.mail_id = m.mail_id
                               AND (NOT c.pending OR c.version < u.version)))
       OR EXISTS (SELECT FROM outreach o JOIN mails m ON m.participant_id = ANY(person_ids(o.participant_id))
               WHERE o.thread_id = t.thread_id AND o.turn_id = u.turn_id AND m.received_at > o.proposed_at
               AND m.trusted AND m.verdict IN ('answer', 'human') AND m.mode = 'live') AS newer,
       EXISTS (SELECT 1 FROM mails q JOIN mails h ON h.thread_id = t.thread_id AND h.filter = 'sent_folder'
               AND h.verdict = 'colleague' AND h.mode = 'live' AND h.answered_ids @> ARRAY[q.message_id]
               WHERE q.mail_id = ANY(u.mail_ids)
               AND (q.received_at >= u.waiting_since OR h.received_at >= u.waiting_since)) AS by_hand,
       EXISTS (SELECT FROM outreach o JOIN unsubscribes n ON n.participant_id = ANY(person_ids(o.participant_id))
               WHERE o.thread_id = t.thread_id AND o.turn_id = u.turn_id) AS unsubscribed,
       EXISTS (SELECT FROM outreach o CROSS JOIN LATERAL unnest(person_ids(o.participant_id)) AS who(id)
               JOIN participants p ON p.participant_id = who.id
               WHERE o.thread_id = t.thread_id AND o.turn_id = u.turn_id
               AND (p.state IN ('at_risk', 'churned') OR p.risk = 'high' OR EXISTS (
                   SELECT FROM threads e WHERE e.workspace = t.workspace AND e.participant_id = p.participant_id
                   AND e.state = 'escalated'))) AS left_alone
FROM threads t LEFT JOIN turns u ON u.turn_id = %(turn_id)s
WHERE t.thread_id = %(thread_id)s;

-- name: unsent_in_thread
-- Drafts and approved replies of a thread beside one reply.
SELECT reply_id, thread_id, turn_id FROM deliveries
WHERE thread_id = %(thread_id)s AND reply_id <> %(reply_id)s AND state IN ('draft', 'approved') ORDER BY reply_id;

-- name: waiting_in_turn
-- The draft of a turn that waits for a person.
SELECT reply_id, thread_id, turn_id FROM deliveries WHERE turn_id = %(turn_id)s AND state = 'draft' ORDER BY reply_id;

-- name: held_by_person
-- A person's own reply that is not at the server's door yet.
SELECT d.reply_id, d.thread_id, d.turn_id FROM deliveries d JOIN turns u USING (turn_id)
WHERE d.reply_id = %(reply_id)s AND d.state = 'approved' AND u.by <> '';

-- name: earned
-- Whether approvals of an intent in an inbox are earned (earn_approval's own rows).
SELECT approval_id FROM approvals
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND intent = %(intent)s AND is_open;

-- name: newest_mail
-- The newest mail that is answered: its author is the one recipient.
SELECT mail_id, message_id, references_ids, subject, author_name,
       coalesce(nullif(author_written, ''), author_addr) AS author_addr, identity, trusted, flags, received_at
FROM mails WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at DESC, mail_id DESC LIMIT 1;

-- name: sendable_documents
-- The documents behind some passages whose file may go out, each once, with its passages among those.
SELECT d.title, d.origin, d.media_type, d.blob, array_agg(c.chunk_id) AS chunks
FROM chunks c JOIN documents d USING (document_id)
WHERE c.workspace = %(workspace)s AND c.chunk_id = ANY(%(ids)s) AND d.sendable AND d.removed_at IS NULL
GROUP BY d.document_id ORDER BY d.origin;

-- name: mail_as_read
-- A mail's own event: who stood on it, and its text.
SELECT * FROM events WHERE type = 'email.read.v1' AND aggregate = 'mail' AND aggregate_id = %(mail_id)s
  AND version IS NOT NULL
ORDER BY version DESC LIMIT 1;

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
-- Why nothing may be sent to an address, unless a person has lifted that since.
SELECT reason FROM suppressions
WHERE workspace = %(workspace)s AND addr = %(addr)s AND (lifted_at IS NULL OR lifted_at < at);

-- name: suppressed_by
-- Whether the address is suppressed because of this reply.
SELECT addr FROM suppressions
WHERE workspace = %(workspace)s AND reply_id = %(reply_id)s AND (lifted_at IS NULL OR lifted_at < at);

-- name: passages_with
-- Passages of a space that can be found now in which one of these texts stands.
SELECT c.text FROM chunks c JOIN documents d USING (document_id)
WHERE c.workspace = %(workspace)s AND c.retired_at IS NULL AND d.space = %(space)s
  AND EXISTS (SELECT 1 FROM unnest(%(links)s::text[]) AS link WHERE position(link IN c.text) > 0);

-- name: folder_is_away
-- Whether this inbox's Sent folder failed to take another copy a moment ago.
SELECT 1 AS away FROM deliveries
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND sent_copy = 'waiting' AND copy_tried_at > %(since)s
  AND reply_id <> %(reply_id)s
LIMIT 1;

-- name: upsert_delivery
INSERT INTO deliveries (reply_id, workspace, thread_id, turn_id, inbox, state, message_id, blob, recipient,
                        cc, files, envelope_from, detail, intent, model, score, floors, created_at,
                        changed_at)
VALUES (%(reply_id)s, %(workspace)s, %(thread_id)s, %(turn_id)s, %(inbox)s, %(to_state)s, %(message_id)s, %(blob)s,
        %(recipient)s, %(cc)s, %(files)s, %(envelope_from)s, %(detail)s, %(intent)s, %(model)s, %(score)s,
        %(floors)s, %(at)s, %(at)s)
ON CONFLICT (reply_id) DO UPDATE SET state = excluded.state, message_id = excluded.message_id, blob = excluded.blob,
    recipient = excluded.recipient, cc = excluded.cc, files = excluded.files, envelope_from = excluded.envelope_from, detail = excluded.detail,
    changed_at = excluded.changed_at;

-- name: set_state
UPDATE deliveries SET state = %(to_state)s, attempt = greatest(attempt, %(attempt)s), detail = %(detail)s,
    retry_at = %(retry_at)s, departs_at = coalesce(%(departs_at)s, departs_at),
    sent_at = coalesce(%(sent_at)s, sent_at), changed_at = %(at)s
WHERE reply_id = %(reply_id)s;

-- name: log_attempt
INSERT INTO delivery_attempts (reply_id, version, workspace, at, attempt, result, detail)
VALUES (%(reply_id)s, %(version)s, %(workspace)s, %(at)s, %(attempt)s, %(to_state)s, %(detail)s);

-- name: set_copy
UPDATE deliveries SET sent_copy = %(sent_copy)s, copy_attempt = %(attempt)s, copy_detail = %(detail)s,
    copy_tried_at = coalesce(%(tried_at)s, copy_tried_at)
WHERE reply_id = %(reply_id)s;

-- name: suppress
-- The newest report stands, in whichever order the deliveries that bounced are applied.
INSERT INTO suppressions (workspace, addr, reason, mail_id, reply_id, at)
VALUES (%(workspace)s, %(recipient)s, %(kind)s, %(mail_id)s, %(reply_id)s, %(at)s)
ON CONFLICT (workspace, addr) DO UPDATE
    SET reason = excluded.reason, mail_id = excluded.mail_id, reply_id = excluded.reply_id, at = excluded.at
    WHERE (excluded.at, excluded.mail_id) > (suppressions.at, suppressions.mail_id);

-- name: lift
-- The newest lift stands, likewise.
UPDATE suppressions SET lifted_at = %(at)s, lifted_by = %(by)s, lifted_because = %(reason)s
WHERE workspace = %(workspace)s AND addr = %(recipient)s AND (lifted_at IS NULL OR lifted_at < %(at)s);

-- name: approved
-- The event that approved the reply: all that an attempt needs.
SELECT * FROM events WHERE type = 'reply.approved.v1' AND aggregate = 'delivery' AND aggregate_id = %(reply_id)s
  AND version IS NOT NULL
ORDER BY version DESC LIMIT 1;

-- name: draft
-- The draft as the model made it.
SELECT * FROM events WHERE key = %(thread_id)s AND type = 'reply.drafted.v1' AND data ->> 'reply_id' = %(reply_id)s;

-- name: held
-- What a person was shown last of a reply.
SELECT * FROM events WHERE type = 'reply.held.v1' AND aggregate = 'delivery' AND aggregate_id = %(reply_id)s
  AND version IS NOT NULL
ORDER BY version DESC LIMIT 1;

-- name: changed_since
-- A row where anything but what the agent did while it wrote has come into a thread since a version of it.
SELECT 1 AS changed WHERE %(version)s - %(seen)s <>
    (SELECT count(*) FROM events WHERE workspace = %(workspace)s AND aggregate = 'thread' AND aggregate_id = %(thread_id)s
     AND version > %(seen)s AND type = 'thread.action_logged.v1');
