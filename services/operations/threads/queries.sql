-- name: threads
-- Threads of a workspace, the latest change first. A null filters nothing. Of whom nobody has proven to be, the thread
-- names the address that they claim, and no participant.
SELECT t.thread_id, t.subject, t.inbox, t.state, t.priority, t.tags, t.opened_at, t.changed_at, t.participant_id, t.assignee, t.snoozed_until,
       CASE WHEN first.trusted IS NOT false THEN coalesce(p.addr, '') ELSE '' END AS participant,
       coalesce(first.identity, '') AS sender_level,
       CASE WHEN first.trusted THEN '' ELSE coalesce(first.author_addr, '') END AS claims_to_be
FROM threads t LEFT JOIN participants p USING (workspace, participant_id)
LEFT JOIN LATERAL (SELECT m.identity, m.author_addr, m.trusted FROM mails m
                   WHERE m.thread_id = t.thread_id AND m.verdict IN ('answer', 'human')
                   ORDER BY m.received_at, m.mail_id LIMIT 1) first ON true
WHERE t.workspace = %(workspace)s
  AND (%(state)s::text IS NULL OR t.state = %(state)s)
  AND (%(priority)s::text IS NULL OR t.priority = %(priority)s)
  AND (%(tag)s::text IS NULL OR t.tags @> ARRAY[%(tag)s::text])
  AND (%(inbox)s::text IS NULL OR t.inbox = %(inbox)s)
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: thread
-- One thread with its summaries, the latest first: one for each who wrote in it. None of another workspace.
SELECT t.thread_id, t.subject, t.inbox, t.state, t.priority, t.tags, t.opened_at, t.changed_at, t.participant_id, t.assignee, t.snoozed_until,
       CASE WHEN first.trusted IS NOT false THEN coalesce(p.addr, '') ELSE '' END AS participant,
       coalesce(first.identity, '') AS sender_level,
       CASE WHEN first.trusted THEN '' ELSE coalesce(first.author_addr, '') END AS claims_to_be,
       t.linked_from, t.open_turn,
       coalesce((SELECT a.version FROM aggregates a WHERE a.workspace = t.workspace AND a.kind = 'thread' AND a.id = t.thread_id), 0)
           AS version,
       ARRAY(SELECT l.thread_id FROM threads l WHERE l.workspace = t.workspace AND l.linked_from = t.thread_id
             ORDER BY l.opened_at, l.thread_id) AS linked_to,
       coalesce((SELECT string_agg(CASE WHEN s.trusted THEN s.text ELSE 'Nothing proves who wrote this: ' || s.text END,
                                   E'\n\n' ORDER BY s.updated_at DESC, s.text) FROM thread_summaries s
                 WHERE s.thread_id = t.thread_id), '') AS summary
FROM threads t LEFT JOIN participants p USING (workspace, participant_id)
LEFT JOIN LATERAL (SELECT m.identity, m.author_addr, m.trusted FROM mails m
                   WHERE m.thread_id = t.thread_id AND m.verdict IN ('answer', 'human')
                   ORDER BY m.received_at, m.mail_id LIMIT 1) first ON true
WHERE t.workspace = %(workspace)s AND t.thread_id = %(thread_id)s;

-- name: goals
SELECT goal_id, text, added_at, closed_at, NOT unproven_moment(thread_id, added_at) AS proven FROM goals
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY added_at, goal_id;

-- name: said
-- Each customer's mail with how far its sender is believed, each reply with how long the oldest mail that it answers waited
-- for it: known of the agent's where the ledger says when it left, of a colleague's by when it was written.
-- The newest first, a page of them.
SELECT c.version, c.at, c.role, c.by, c.text, c.pending, c.reply_id, c.gone_at, c.mail_id,
       extract(epoch FROM greatest(c.at, coalesce(u.waiting_since, asked.at)) - coalesce(u.waiting_since, asked.at))::float AS waited_s,
       CASE WHEN c.role = 'customer' THEN coalesce(m.identity, '') ELSE '' END AS sender_level
FROM conversation c LEFT JOIN mails m USING (mail_id)
LEFT JOIN deliveries d ON d.reply_id = c.reply_id LEFT JOIN turns u ON u.turn_id = d.turn_id AND d.sent_at IS NOT NULL
LEFT JOIN LATERAL (
    SELECT min(q.at) AS at FROM conversation q
    WHERE c.role = 'human' AND q.thread_id = c.thread_id AND q.role = 'customer' AND q.version < c.version AND q.at <= c.at
      AND q.version > coalesce((SELECT max(r.version) FROM conversation r WHERE r.thread_id = c.thread_id
                                AND r.role <> 'customer' AND r.version < c.version), 0)) asked ON true
WHERE c.thread_id = %(thread_id)s AND c.workspace = %(workspace)s AND c.version < %(after_version)s
ORDER BY c.version DESC LIMIT %(limit)s;

-- name: steps
-- The steps of the state machine next to a page of the conversation, refused ones too.
SELECT version, at, from_state, to_state, trigger, reason, refused, cause FROM thread_log
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s AND version >= %(least)s AND version < %(after_version)s
ORDER BY version;

-- name: actions
SELECT version, at, action, detail, trigger, cause, NOT unproven_moment(thread_id, at) AS proven FROM thread_actions
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s AND version >= %(least)s AND version < %(after_version)s
ORDER BY version;

-- name: notes
SELECT note_id, at, by, trigger, text, mentions FROM thread_notes
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY at, note_id;

-- name: entities
SELECT participant_id, name, value, noted_at, expires_at FROM thread_entities
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY participant_id, name;

-- name: deadlines
SELECT kind, status, since, due_at, left_s, allowed_s, priority, reason, ended_at FROM thread_deadlines
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY since, kind;

-- name: due
-- What is due next, what is overdue first.
SELECT d.thread_id, d.kind, d.status, d.since, d.due_at, d.priority, t.subject, t.inbox, t.state
FROM thread_deadlines d JOIN threads t USING (thread_id, workspace)
WHERE d.workspace = %(workspace)s AND d.status IN ('running', 'breached')
  AND (d.due_at, d.thread_id, d.kind) > (%(after_due_at)s::timestamptz, %(after_thread_id)s::uuid, %(after_kind)s)
ORDER BY d.due_at, d.thread_id, d.kind LIMIT %(limit)s;

-- name: step_of
-- What became of a request for a step; others may follow from it.
SELECT from_state, to_state, refused FROM thread_log
WHERE workspace = %(workspace)s AND thread_id = %(thread_id)s AND cause = %(cause)s ORDER BY version LIMIT 1;

-- name: reflections
-- What became of the question that follows each turn, as the history has it; older days may be archived.
SELECT * FROM events
WHERE workspace = %(workspace)s AND key = %(thread_id)s::text AND type = 'turn.reflected.v1' ORDER BY seq;

-- name: learned_before
-- A row where events are archived, and a turn of the thread that has ended has no answer in the table.
SELECT 1 AS archived FROM turns t
WHERE t.workspace = %(workspace)s AND t.thread_id = %(thread_id)s
  AND t.closed_at <= (SELECT max(last_stored_at) FROM archives) AND t.turn_id::text <> ALL(%(turns)s::text[])
LIMIT 1;
