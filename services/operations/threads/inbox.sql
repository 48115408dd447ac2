-- name: needing_a_person
-- Threads that are escalated, or whose open turn has a draft that waits.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.thread_id IN (
    SELECT e.thread_id FROM threads e WHERE e.workspace = %(workspace)s AND e.state = 'escalated'
    UNION
    SELECT o.thread_id FROM deliveries d JOIN threads o ON o.thread_id = d.thread_id AND o.open_turn = d.turn_id
    WHERE d.workspace = %(workspace)s AND d.state = 'draft')
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: count_needing_a_person
SELECT count(*) AS threads FROM (
    SELECT e.thread_id FROM threads e WHERE e.workspace = %(workspace)s AND e.state = 'escalated'
    UNION
    SELECT o.thread_id FROM deliveries d JOIN threads o ON o.thread_id = d.thread_id AND o.open_turn = d.turn_id
    WHERE d.workspace = %(workspace)s AND d.state = 'draft') waiting;

-- name: in_states
-- Threads in some states; without `drafts` those whose draft waits for a person are left out.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.state = ANY(%(states)s)
  AND (%(drafts)s OR NOT EXISTS (SELECT FROM deliveries d WHERE d.turn_id = t.open_turn AND d.state = 'draft'))
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: of_assignee
-- Open threads that somebody has.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.assignee = %(assignee)s AND t.assignee <> '' AND t.state NOT IN ('resolved', 'closed')
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: found
-- Threads by the words of their subject, of their person or of a message in them (all in one passage of it), or by the whole
-- address of whoever wrote in them, proven or not.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.thread_id IN (
    SELECT s.thread_id FROM threads s
    WHERE s.workspace = %(workspace)s AND to_tsvector('simple', translate(s.subject, '@.-_+/', '      ')) @@ to_tsquery('simple', %(words)s)
    UNION
    SELECT s.thread_id FROM participants p JOIN threads s USING (workspace, participant_id)
    WHERE p.workspace = %(workspace)s AND
          to_tsvector('simple', translate(p.addr || ' ' || p.name, '@.-_+/', '      ')) @@ to_tsquery('simple', %(words)s)
    UNION
    SELECT s.thread_id FROM conversation_passages s
    WHERE s.workspace = %(workspace)s AND s.tsv @@ to_tsquery('english', %(words)s)
    UNION
    SELECT m.thread_id FROM mails m WHERE m.workspace = %(workspace)s AND m.author_addr = %(addr)s)
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: of_person
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: lines
-- What a line of the inbox shows of each thread.
SELECT t.thread_id, t.subject, t.inbox, t.state, t.priority, t.tags, t.changed_at, coalesce(a.version, 0) AS version,
       t.participant_id,
       CASE WHEN first.trusted IS NOT false THEN coalesce(p.addr, '') ELSE '' END AS participant,
       CASE WHEN first.trusted IS NOT false THEN coalesce(p.name, '') ELSE '' END AS participant_name,
       CASE WHEN first.trusted THEN '' ELSE coalesce(first.author_addr, '') END AS claims_to_be,
       t.assignee, coalesce(said.role, '') AS last_role, coalesce(said.begin, '') AS last_words,
       d.reply_id AS draft, u.waiting_since, due.due_at, due.kind AS due_kind, due.status AS due_status
FROM threads t
LEFT JOIN aggregates a ON a.workspace = t.workspace AND a.kind = 'thread' AND a.id = t.thread_id
LEFT JOIN participants p ON p.workspace = t.workspace AND p.participant_id = t.participant_id
LEFT JOIN turns u ON u.turn_id = t.open_turn
LEFT JOIN LATERAL (SELECT v.reply_id FROM deliveries v WHERE v.turn_id = t.open_turn AND v.state = 'draft'
                   ORDER BY v.created_at DESC LIMIT 1) d ON true
LEFT JOIN LATERAL (SELECT n.due_at, n.kind, n.status FROM thread_deadlines n
                   WHERE n.thread_id = t.thread_id AND n.status IN ('running', 'breached')
                   ORDER BY n.due_at LIMIT 1) due ON true
LEFT JOIN LATERAL (SELECT m.author_addr, m.trusted FROM mails m
                   WHERE m.thread_id = t.thread_id AND m.verdict IN ('answer', 'human')
                   ORDER BY m.received_at, m.mail_id LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT c.role, left(c.text, 300) AS begin FROM conversation c
                   WHERE c.thread_id = t.thread_id ORDER BY c.version DESC LIMIT 1) said ON true
WHERE t.workspace = %(workspace)s AND t.thread_id = ANY(%(ids)s);
