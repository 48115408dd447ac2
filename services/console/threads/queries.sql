-- name: threads
-- Threads of a workspace, the latest change first. A null filters nothing.
SELECT t.thread_id, t.subject, t.inbox, t.state, t.priority, t.tags, t.opened_at, t.changed_at, t.participant_id,
       coalesce(p.addr, '') AS participant
FROM threads t LEFT JOIN participants p USING (workspace, participant_id)
WHERE t.workspace = %(workspace)s
  AND (%(state)s::text IS NULL OR t.state = %(state)s)
  AND (%(priority)s::text IS NULL OR t.priority = %(priority)s)
  AND (%(tag)s::text IS NULL OR t.tags @> ARRAY[%(tag)s::text])
  AND (%(inbox)s::text IS NULL OR t.inbox = %(inbox)s)
ORDER BY t.changed_at DESC, t.thread_id LIMIT %(limit)s;

-- name: thread
-- One thread with its summaries, the latest first: one for each who wrote in it. None of another workspace.
SELECT t.thread_id, t.subject, t.inbox, t.state, t.priority, t.tags, t.opened_at, t.changed_at, t.participant_id,
       coalesce(p.addr, '') AS participant, t.linked_from, t.open_turn, 
       coalesce((SELECT string_agg(s.text, E'\n\n' ORDER BY s.updated_at DESC, s.text) FROM thread_summaries s
                 WHERE s.thread_id = t.thread_id), '') AS summary
FROM threads t LEFT JOIN participants p USING (workspace, participant_id)
WHERE t.workspace = %(workspace)s AND t.thread_id = %(thread_id)s;

-- name: goals
SELECT goal_id, text, added_at, closed_at FROM goals
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY added_at, goal_id;

-- name: said
SELECT at, role, text, pending, reply_id, gone_at FROM conversation
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY version;

-- name: steps
-- Every step of the state machine, refused ones too.
SELECT version, at, from_state, to_state, trigger, reason, refused, cause FROM thread_log
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY version;

-- name: actions
SELECT version, at, action, detail, trigger, cause FROM thread_actions
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY version;

-- name: notes
SELECT note_id, at, by, trigger, text FROM thread_notes
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY at, note_id;

-- name: deadlines
SELECT kind, status, since, due_at, left_s, allowed_s, priority, reason FROM thread_deadlines
WHERE thread_id = %(thread_id)s AND workspace = %(workspace)s ORDER BY since, kind;

-- name: due
-- What is due next, what is overdue first.
SELECT d.thread_id, d.kind, d.status, d.since, d.due_at, d.priority, t.subject, t.inbox, t.state
FROM thread_deadlines d JOIN threads t USING (thread_id, workspace)
WHERE d.workspace = %(workspace)s AND d.status IN ('running', 'breached')
ORDER BY d.due_at, d.thread_id, d.kind LIMIT %(limit)s;

-- name: step_of
-- What became of a wish for a step; others may follow from it.
SELECT from_state, to_state, refused FROM thread_log
WHERE workspace = %(workspace)s AND thread_id = %(thread_id)s AND cause = %(cause)s ORDER BY version LIMIT 1;

-- name: reflections
-- What became of the question that follows each turn, as the history has it; older days may be archived.
SELECT time, data FROM events
WHERE workspace = %(workspace)s AND key = %(thread_id)s::text AND type = 'turn.reflected.v1' ORDER BY seq;

-- name: learned_before
-- A row where events are archived, and a turn of the thread that has ended has no answer in the table.
SELECT 1 AS archived FROM turns t
WHERE t.workspace = %(workspace)s AND t.thread_id = %(thread_id)s
  AND t.closed_at <= (SELECT max(last_stored_at) FROM archives) AND t.turn_id::text <> ALL(%(turns)s::text[])
LIMIT 1;
