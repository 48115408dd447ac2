-- name: thread
-- The thread's row and its open turn.
SELECT t.*, u.mail_ids AS turn_mails,
       EXISTS (SELECT 1 FROM deliveries d WHERE d.turn_id = t.open_turn AND d.state IN ('sending', 'sent', 'unknown'))
           AS leaving,
       (SELECT bool_and(c.trusted) FROM conversation c
        WHERE c.thread_id = t.thread_id AND c.mail_id = ANY(u.mail_ids)) AS turn_trusted
FROM threads t LEFT JOIN turns u ON u.turn_id = t.open_turn
WHERE t.thread_id = %(thread_id)s;

-- name: pending
-- The mails of the thread that wait for an answer, oldest first.
SELECT c.mail_id, c.at, c.trusted, coalesce(m.message_id, '') AS message_id
FROM conversation c LEFT JOIN mails m USING (mail_id)
WHERE c.thread_id = %(thread_id)s AND c.pending ORDER BY c.at, c.version;

-- name: stands_in_thread
-- The row that a colleague's mail has in the thread already.
SELECT version FROM conversation WHERE thread_id = %(thread_id)s AND reply_id = %(reply_id)s LIMIT 1;

-- name: open_goals
-- The thread's open goals.
SELECT goal_id, text FROM goals WHERE thread_id = %(thread_id)s AND closed_at IS NULL ORDER BY added_at, goal_id;

-- name: insert_thread
INSERT INTO threads (thread_id, workspace, participant_id, inbox, subject, state, opened_at, changed_at)
VALUES (%(thread_id)s, %(workspace)s, %(participant_id)s, %(inbox)s, %(subject)s, 'new', %(at)s, %(at)s);

-- name: link_thread
UPDATE threads SET linked_from = %(linked_from)s WHERE thread_id = %(thread_id)s;

-- name: insert_conversation
INSERT INTO conversation (thread_id, version, workspace, role, mail_id, reply_id, text, tokens, trusted, pending, at)
VALUES (%(thread_id)s, %(version)s, %(workspace)s, %(role)s, %(mail_id)s, %(reply_id)s, %(text)s, %(tokens)s,
        %(trusted)s, %(pending)s, %(at)s);

-- name: set_state
UPDATE threads SET state = %(to_state)s, changed_at = %(at)s WHERE thread_id = %(thread_id)s;

-- name: log_transition
INSERT INTO thread_log (thread_id, version, workspace, at, from_state, to_state, trigger, reason, refused, cause)
VALUES (%(thread_id)s, %(version)s, %(workspace)s, %(at)s, %(from_state)s, %(to_state)s, %(trigger)s, %(reason)s,
        %(refused)s, %(cause)s);

-- name: insert_goal
INSERT INTO goals (goal_id, thread_id, workspace, text, added_at)
VALUES (%(goal_id)s, %(thread_id)s, %(workspace)s, %(text)s, %(at)s)
ON CONFLICT (goal_id) DO NOTHING;

-- name: close_goal
UPDATE goals SET closed_at = %(at)s WHERE goal_id = %(goal_id)s;

-- name: log_action
INSERT INTO thread_actions (thread_id, version, workspace, at, action, detail)
VALUES (%(thread_id)s, %(version)s, %(workspace)s, %(at)s, %(action)s, %(detail)s);

-- name: open_turn
INSERT INTO turns (turn_id, workspace, thread_id, mail_ids, opened_at, waiting_since)
VALUES (%(turn_id)s, %(workspace)s, %(thread_id)s, %(mail_ids)s, %(at)s, %(waiting_since)s);

-- name: set_open_turn
UPDATE threads SET open_turn = %(turn_id)s, changed_at = %(at)s WHERE thread_id = %(thread_id)s;

-- name: close_turn
UPDATE turns SET outcome = %(outcome)s, reason = %(reason)s, reply_id = %(reply_id)s, closed_at = %(at)s
WHERE turn_id = %(turn_id)s;

-- name: answer_pending
-- These mails no longer wait.
UPDATE conversation SET pending = false WHERE thread_id = %(thread_id)s AND mail_id = ANY(%(mail_ids)s);
