-- name: thread
-- The thread's row and its open turn.
SELECT t.participant_id, t.inbox, t.state, t.priority, t.tags, t.assignee, t.snoozed_until, t.linked_from, t.open_turn,
       u.mail_ids AS turn_mails, u.by AS turn_by,
       EXISTS (SELECT 1 FROM deliveries d WHERE d.turn_id = t.open_turn AND d.state IN ('sending', 'sent', 'unknown'))
           AS leaving,
       (SELECT coalesce(bool_and(c.trusted AND coalesce(m.trusted, c.trusted)), false)
        FROM conversation c LEFT JOIN mails m USING (mail_id)
        WHERE c.thread_id = t.thread_id AND c.mail_id = ANY(u.mail_ids)) AS turn_trusted,
       (SELECT m.participant_id FROM mails m WHERE m.mail_id = ANY(u.mail_ids) LIMIT 1) AS turn_participant_id,
       EXISTS (SELECT 1 FROM conversation c WHERE c.thread_id = t.thread_id AND c.reply_id IS NOT NULL) AS answered,
       coalesce((SELECT c.role = 'human' FROM conversation c WHERE c.thread_id = t.thread_id
                 ORDER BY c.version DESC LIMIT 1), false) AS by_hand
FROM threads t LEFT JOIN turns u ON u.turn_id = t.open_turn
WHERE t.thread_id = %(thread_id)s;

-- name: began
-- When the thread was opened last: by its first live mail, or, since it was resolved or closed, by the next one or by
-- whoever took it up again. It looks through all of a long thread, so it is asked only where it counts.
SELECT min(at) AS at FROM (
    SELECT c.version, c.at FROM conversation c JOIN mails m USING (mail_id)
    WHERE c.thread_id = %(thread_id)s AND m.mode = 'live'
    UNION ALL
    SELECT version, at FROM thread_log
    WHERE thread_id = %(thread_id)s AND from_state = 'resolved' AND to_state = 'in_progress' AND refused = '') began
WHERE began.version > coalesce((SELECT max(version) FROM thread_log WHERE thread_id = %(thread_id)s
                                AND to_state IN ('resolved', 'closed') AND refused = ''), 0);

-- name: pending
-- The mails of the thread that wait for an answer, oldest first.
SELECT c.mail_id, c.at, c.trusted AND coalesce(m.trusted, c.trusted) AS trusted, coalesce(m.message_id, '') AS message_id, m.participant_id,
       coalesce(m.author_addr, '') AS addr
FROM conversation c LEFT JOIN mails m USING (mail_id)
WHERE c.thread_id = %(thread_id)s AND c.pending ORDER BY c.at, c.version;

-- name: arriving
-- A mail that is about to be attached, as `pending` will give it.
SELECT mail_id, received_at AS at, trusted, message_id, participant_id, author_addr AS addr FROM mails
WHERE mail_id = %(mail_id)s;

-- name: stands_in_thread
-- The row that a colleague's mail has in the thread already.
SELECT version FROM conversation WHERE thread_id = %(thread_id)s AND reply_id = %(reply_id)s LIMIT 1;

-- name: answered_mail
-- The mail that a person answers, as `pending` would give it: the one that is named, else the newest.
SELECT c.mail_id, c.at, c.trusted AND coalesce(m.trusted, c.trusted) AS trusted, coalesce(m.message_id, '') AS message_id, m.participant_id,
       coalesce(m.author_addr, '') AS addr
FROM conversation c JOIN mails m USING (mail_id)
WHERE c.thread_id = %(thread_id)s AND c.role = 'customer' AND (%(mail_id)s::uuid IS NULL OR c.mail_id = %(mail_id)s)
ORDER BY c.version DESC LIMIT 1;

-- name: newest_proven
-- The newest live or imported mail of a thread that one person wrote and that is proven to be theirs.
SELECT c.mail_id, c.at, true AS trusted, m.message_id, m.participant_id, m.author_addr AS addr
FROM conversation c JOIN mails m USING (mail_id)
WHERE c.thread_id = %(thread_id)s AND c.role = 'customer' AND c.trusted AND m.trusted
  AND m.participant_id = %(participant_id)s
ORDER BY c.version DESC LIMIT 1;

-- name: came_since
-- What was said after a version of the thread, oldest first; the last of it may have been read and not attached yet.
(SELECT coalesce(mail_id, reply_id) AS id FROM conversation
 WHERE thread_id = %(thread_id)s AND version > %(seen)s ORDER BY version)
UNION ALL
(SELECT m.mail_id FROM mails m
 WHERE m.thread_id = %(thread_id)s AND m.verdict IN ('answer', 'human') AND m.mode = 'live'
   AND m.received_at >= (SELECT max(c.at) FROM conversation c WHERE c.thread_id = m.thread_id)
   AND NOT EXISTS (SELECT FROM conversation c WHERE c.thread_id = m.thread_id AND c.mail_id = m.mail_id)
 ORDER BY m.received_at, m.mail_id);

-- name: unsettled
-- A reply of the thread of which nobody knows whether it was sent.
SELECT reply_id FROM deliveries WHERE thread_id = %(thread_id)s AND state IN ('sending', 'unknown') LIMIT 1;

-- name: turn_of
-- Whether a turn was ever opened.
SELECT turn_id FROM turns WHERE turn_id = %(turn_id)s;

-- name: open_goals
-- The thread's open goals.
SELECT goal_id, text, participant_id, added_at FROM goals
WHERE thread_id = %(thread_id)s AND closed_at IS NULL ORDER BY added_at, goal_id;

-- name: deadlines
-- The newest clock of each kind.
SELECT kind, status, since, allowed_s, priority, due_at, left_s, ended_at FROM thread_deadlines
WHERE thread_id = %(thread_id)s ORDER BY kind;

-- name: drafted
-- What the agent drafted in a turn that has not ended.
SELECT id, type, data FROM events
WHERE type = 'reply.drafted.v1' AND key = %(thread_id)s AND data ->> 'turn_id' = %(turn_id)s ORDER BY seq DESC LIMIT 1;

-- name: occasion_mails
-- What behaviours look at of some mails.
SELECT mail_id, subject, text, author_addr, coalesce(language, '') AS language, trusted, participant_id FROM mails
WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at, mail_id;

-- name: occasion_person
-- As they were seen last, under whichever address, with the worst risk of all of them.
WITH person AS MATERIALIZED (
    SELECT * FROM participants WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]))
SELECT state, tags,
       (SELECT risk FROM person ORDER BY array_position(ARRAY['high', 'medium', 'low'], risk) LIMIT 1) AS risk
FROM person
ORDER BY last_seen_at DESC, participant_id LIMIT 1;

-- name: handed_over
-- Those of some mails with which the thread was handed to a person before.
SELECT one AS mail_id FROM turns, unnest(mail_ids) AS one
WHERE thread_id = %(thread_id)s AND outcome = 'escalated' AND one = ANY(%(mail_ids)s);

-- name: imported
-- A mail among these that was imported.
SELECT mail_id FROM mails WHERE mail_id = ANY(%(mail_ids)s) AND mode = 'history' LIMIT 1;

-- name: insert_thread
INSERT INTO threads (thread_id, workspace, participant_id, inbox, subject, state, opened_at, changed_at)
VALUES (%(thread_id)s, %(workspace)s, %(participant_id)s, %(inbox)s, %(subject)s, 'new', %(at)s, %(at)s);

-- name: link_thread
UPDATE threads SET linked_from = %(linked_from)s WHERE thread_id = %(thread_id)s;

-- name: insert_conversation
INSERT INTO conversation (thread_id, version, workspace, role, by, mail_id, reply_id, text, tokens, trusted, pending, at)
VALUES (%(thread_id)s, %(version)s, %(workspace)s, %(role)s, %(by)s, %(mail_id)s, %(reply_id)s, %(text)s, %(tokens)s,
        %(trusted)s, %(pending)s, %(at)s);

-- name: insert_passages
-- The passages of a row of the conversation, which find it again.
INSERT INTO conversation_passages (passage_id, thread_id, version, part, workspace, text)
SELECT md5(format('%%s/%%s/%%s', %(thread_id)s::uuid, %(version)s::int, one.part))::uuid, %(thread_id)s, %(version)s,
       one.part, %(workspace)s, one.text
FROM passages_of(%(text)s) WITH ORDINALITY AS one (text, part);

-- name: set_state
UPDATE threads SET state = %(to_state)s, changed_at = %(at)s WHERE thread_id = %(thread_id)s;

-- name: set_assignee
UPDATE threads SET assignee = %(assignee)s, changed_at = %(at)s WHERE thread_id = %(thread_id)s;

-- name: set_snoozed
UPDATE threads SET snoozed_until = %(until)s, changed_at = %(at)s WHERE thread_id = %(thread_id)s;

-- name: log_transition
INSERT INTO thread_log (thread_id, version, workspace, at, from_state, to_state, trigger, reason, refused, cause)
VALUES (%(thread_id)s, %(version)s, %(workspace)s, %(at)s, %(from_state)s, %(to_state)s, %(trigger)s, %(reason)s,
        %(refused)s, %(cause)s);

-- name: insert_goal
INSERT INTO goals (goal_id, thread_id, participant_id, workspace, text, added_at)
VALUES (%(goal_id)s, %(thread_id)s, %(participant_id)s, %(workspace)s, %(text)s, %(at)s)
ON CONFLICT (goal_id) DO NOTHING;

-- name: close_goal
UPDATE goals SET closed_at = %(at)s WHERE goal_id = %(goal_id)s;

-- name: log_action
INSERT INTO thread_actions (thread_id, version, participant_id, workspace, at, action, detail, trigger, cause)
VALUES (%(thread_id)s, %(version)s, %(participant_id)s, %(workspace)s, %(at)s, %(action)s, %(detail)s, %(trigger)s,
        %(cause)s);

-- name: set_priority
UPDATE threads SET priority = %(to_priority)s, changed_at = %(at)s WHERE thread_id = %(thread_id)s;

-- name: set_tags
UPDATE threads SET tags = ARRAY(SELECT one FROM unnest(tags || %(added)s::text[]) AS one
                                WHERE one <> ALL(%(removed)s::text[]) ORDER BY one), changed_at = %(at)s
WHERE thread_id = %(thread_id)s;

-- name: insert_note
INSERT INTO thread_notes (note_id, thread_id, workspace, at, by, trigger, text, mentions, cause)
VALUES (%(note_id)s, %(thread_id)s, %(workspace)s, %(at)s, %(by)s, %(trigger)s, %(text)s, %(mentions)s, %(cause)s)
ON CONFLICT (note_id) DO NOTHING;

-- name: set_deadline
INSERT INTO thread_deadlines (thread_id, kind, workspace, status, since, allowed_s, due_at, left_s, priority, reason, at,
                              cause, ended_at)
VALUES (%(thread_id)s, %(kind)s, %(workspace)s, %(status)s, %(since)s, %(allowed_s)s, %(due_at)s, %(left_s)s,
        %(priority)s, %(reason)s, %(at)s, %(cause)s, %(ended_at)s)
ON CONFLICT (thread_id, kind) DO UPDATE SET status = excluded.status, since = excluded.since,
    allowed_s = excluded.allowed_s, due_at = excluded.due_at, left_s = excluded.left_s, priority = excluded.priority,
    reason = excluded.reason, at = excluded.at, cause = excluded.cause, ended_at = excluded.ended_at;

-- name: rated_reply
-- A reply of the thread that left, whose text is still kept, with the rating of its turn.
SELECT d.turn_id, d.inbox, r.good, coalesce(r.comment, '') AS comment, r.rated_at,
       coalesce(r.changes, 0) AS changes
FROM deliveries d JOIN conversation c ON c.thread_id = d.thread_id AND c.reply_id = d.reply_id AND c.gone_at IS NULL
LEFT JOIN reply_ratings r ON r.turn_id = d.turn_id
WHERE d.reply_id = %(reply_id)s AND d.thread_id = %(thread_id)s LIMIT 1;

-- name: put_rating
INSERT INTO reply_ratings (turn_id, reply_id, thread_id, workspace, inbox, good, comment, version, rated_at, changed_at)
VALUES (%(turn_id)s, %(reply_id)s, %(thread_id)s, %(workspace)s, %(inbox)s, %(good)s, %(comment)s, %(version)s, %(at)s, %(at)s)
ON CONFLICT (turn_id) DO UPDATE SET good = excluded.good, comment = excluded.comment, version = excluded.version,
    changed_at = excluded.changed_at, changes = reply_ratings.changes + 1;

-- name: open_turn
INSERT INTO turns (turn_id, workspace, thread_id, version, mail_ids, by, opened_at, waiting_since)
VALUES (%(turn_id)s, %(workspace)s, %(thread_id)s, %(version)s, %(mail_ids)s, %(by)s, %(at)s, %(waiting_since)s);

-- name: set_open_turn
UPDATE threads SET open_turn = %(turn_id)s, changed_at = %(at)s WHERE thread_id = %(thread_id)s;

-- name: close_turn
UPDATE turns SET outcome = %(outcome)s, reason = %(reason)s, reply_id = %(reply_id)s, closed_at = %(at)s
WHERE turn_id = %(turn_id)s;

-- name: answer_pending
-- These mails no longer wait.
UPDATE conversation SET pending = false WHERE thread_id = %(thread_id)s AND mail_id = ANY(%(mail_ids)s);

-- name: due_bodies
-- Whether the thread rests, and holds a text from before a moment.
SELECT (EXISTS (SELECT FROM conversation
                WHERE thread_id = %(thread_id)s AND at < %(before)s AND gone_at IS NULL)
        OR EXISTS (SELECT FROM thread_entities WHERE thread_id = %(thread_id)s AND noted_at < %(before)s))
       AND thread_rests(%(thread_id)s) AS due;

-- name: delete_passages
-- Before their texts go.
DELETE FROM conversation_passages p USING conversation c
WHERE c.thread_id = %(thread_id)s AND c.at < %(before)s AND c.gone_at IS NULL
  AND p.thread_id = c.thread_id AND p.version = c.version;

-- name: empty_ratings
-- What was said of a reply goes with its text.
UPDATE reply_ratings r SET comment = '' FROM conversation c
WHERE r.thread_id = %(thread_id)s AND c.reply_id = r.reply_id AND c.thread_id = r.thread_id AND c.at < %(before)s;

-- name: empty_conversation
-- What was said before a moment is kept no longer; that it was said, by whom and when, stays.
UPDATE conversation SET text = '', gone_at = %(at)s
WHERE thread_id = %(thread_id)s AND at < %(before)s AND gone_at IS NULL;

-- name: empty_suggestions
-- The agent's own notes are drafts of replies.
UPDATE thread_notes SET text = '' WHERE thread_id = %(thread_id)s AND at < %(before)s AND by = 'agent';

-- name: forget_entities
-- What is set anew, and what has had its time.
DELETE FROM thread_entities
WHERE thread_id = %(thread_id)s AND participant_id = %(participant_id)s
  AND (name = ANY(%(names)s::text[]) OR expires_at <= %(at)s);

-- name: keep_entities
INSERT INTO thread_entities (thread_id, participant_id, name, workspace, value, version, noted_at, expires_at)
SELECT %(thread_id)s, %(participant_id)s, name, %(workspace)s, value, %(version)s, %(at)s, %(until)s
FROM unnest(%(names)s::text[], %(texts)s::text[]) AS kept (name, value);

-- name: bound_entities
-- Two turns may have set more between them: the latest stay.
DELETE FROM thread_entities e USING (
    SELECT name FROM thread_entities WHERE thread_id = %(thread_id)s AND participant_id = %(participant_id)s
    ORDER BY version DESC, name OFFSET %(most)s) AS beyond
WHERE e.thread_id = %(thread_id)s AND e.participant_id = %(participant_id)s AND e.name = beyond.name;

-- name: expire_entities
-- They hold words of mails whose texts are kept no longer.
DELETE FROM thread_entities WHERE thread_id = %(thread_id)s AND noted_at < %(before)s;
