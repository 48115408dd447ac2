-- name: needing_a_person
-- Threads that are escalated, or whose open turn has a draft that waits, unless they are snoozed. Among those that anybody has
-- in hand, in their order: no more is read than a page, and the threads that the agent still writes in.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.snoozed_until IS NULL AND (t.state = 'escalated' OR t.open_turn IS NOT NULL)
  AND (t.state = 'escalated' OR (SELECT true FROM deliveries d WHERE d.turn_id = t.open_turn AND d.state = 'draft' LIMIT 1))
  AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
  AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: count_needing_a_person
-- How many of the same, counted no further than `most`.
SELECT count(*) AS threads FROM (
    SELECT FROM threads t
    WHERE t.workspace = %(workspace)s AND t.snoozed_until IS NULL AND (t.state = 'escalated' OR t.open_turn IS NOT NULL)
      AND (t.state = 'escalated' OR (SELECT true FROM deliveries d WHERE d.turn_id = t.open_turn AND d.state = 'draft' LIMIT 1))
    LIMIT %(most)s) waiting;

-- name: in_states
-- Threads in some states; unless `every` is asked for, without those that are snoozed or whose draft waits for a person. A page
-- of each state in its order, then the first of all these: a state that few threads are in is not looked for among all.
SELECT t.thread_id, t.changed_at FROM unnest(%(states)s::text[]) AS wanted (state) CROSS JOIN LATERAL (
    SELECT t.thread_id, t.changed_at FROM threads t
    WHERE t.workspace = %(workspace)s AND t.state = wanted.state
      AND (%(every)s OR (t.snoozed_until IS NULL AND NOT EXISTS (
            SELECT FROM deliveries d WHERE d.turn_id = t.open_turn AND d.state = 'draft')))
      AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
      AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
      AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
    ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s) t
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: of_assignee
-- Open threads that somebody has and did not put off.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.assignee = %(assignee)s AND t.assignee <> '' AND t.state NOT IN ('resolved', 'closed')
  AND t.snoozed_until IS NULL
  AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
  AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: of_team
-- Open threads that a team has and did not put off, and of its inboxes those that need a person and that nobody has: a page of
-- each in its order, then the first of both.
SELECT t.thread_id, t.changed_at FROM (
    (SELECT t.thread_id, t.changed_at FROM threads t
    WHERE t.workspace = %(workspace)s AND t.assignee = %(assignee)s AND t.assignee <> '' AND t.state NOT IN ('resolved', 'closed')
      AND t.snoozed_until IS NULL
      AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
      AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
      AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
    ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT t.thread_id, t.changed_at FROM threads t
    WHERE t.workspace = %(workspace)s AND t.snoozed_until IS NULL AND (t.state = 'escalated' OR t.open_turn IS NOT NULL)
      AND t.assignee = '' AND t.inbox = ANY(%(inboxes)s::text[])
      AND (t.state = 'escalated' OR (SELECT true FROM deliveries d WHERE d.turn_id = t.open_turn AND d.state = 'draft' LIMIT 1))
      AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
      AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
      AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
    ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s)) t
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: asked_to_look
-- Open threads in which a note names somebody.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.state NOT IN ('resolved', 'closed') AND t.thread_id IN (
    SELECT n.thread_id FROM thread_notes n
    WHERE n.workspace = %(workspace)s AND n.mentions <> '{}' AND n.mentions @> ARRAY[%(name)s::text])
  AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
  AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: snoozed
-- Threads that a person put off.
SELECT t.thread_id, t.changed_at FROM threads t
WHERE t.workspace = %(workspace)s AND t.snoozed_until IS NOT NULL
  AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
  AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
  AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s;

-- name: found
-- Threads by the words of their subject, of their person or of a message in them (all in one passage of it), or by the whole
-- address of whoever wrote in them, proven or not. The indexes of words know no order, so that all that they hold is read and
-- put in order: `hits` says how much that was, in each row, and in one without a thread where there is none. With `most` it
-- ends there, and the page is one only where fewer were hit. An array, and OFFSET 0: each hit is looked up by its id; after a
-- guess at how many there are, which for beginnings of words is a wild one, every thread would be read.
WITH hit AS MATERIALIZED (
    SELECT thread_id FROM (
        SELECT s.thread_id FROM threads s
        WHERE s.workspace = %(workspace)s AND to_tsvector('simple', translate(s.subject, '@.-_+/', '      ')) @@ to_tsquery('simple', %(words)s)
        UNION ALL
        SELECT s.thread_id FROM participants p CROSS JOIN LATERAL (
            SELECT o.thread_id FROM threads o
            WHERE o.workspace = p.workspace AND o.participant_id = p.participant_id OFFSET 0) s
        WHERE p.workspace = %(workspace)s AND
              to_tsvector('simple', translate(p.addr || ' ' || p.name, '@.-_+/', '      ')) @@ to_tsquery('simple', %(words)s)
        UNION ALL
        SELECT s.thread_id FROM conversation_passages s
        WHERE s.workspace = %(workspace)s AND s.tsv @@ to_tsquery('english', %(words)s)
        UNION ALL
        SELECT m.thread_id FROM mails m WHERE m.workspace = %(workspace)s AND m.author_addr = %(addr)s) every
    LIMIT %(most)s::bigint)
SELECT counted.hits, t.thread_id, t.changed_at FROM (SELECT count(*) AS hits FROM hit) counted LEFT JOIN (
    SELECT t.thread_id, t.changed_at FROM threads t
    WHERE t.workspace = %(workspace)s AND t.thread_id = ANY(ARRAY(SELECT DISTINCT thread_id FROM hit))
      AND (%(most)s::bigint IS NULL OR (SELECT count(*) FROM hit) < %(most)s)
      AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
      AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
      AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
    ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(limit)s) t ON true
ORDER BY t.changed_at DESC, t.thread_id DESC;

-- name: found_lately
-- The same among the `window` threads that changed last: words that many have are found without reading all that have them.
-- What is asked of each thread is asked by LIMIT 1, which is never answered by collecting what all threads have.
SELECT t.thread_id, t.changed_at FROM (
    SELECT t.workspace, t.thread_id, t.changed_at, t.subject, t.participant_id FROM threads t
    WHERE t.workspace = %(workspace)s
      AND (%(inbox)s = '' OR t.inbox = %(inbox)s) AND (%(priority)s = '' OR t.priority = %(priority)s)
      AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s::text])
      AND (t.changed_at, t.thread_id) < (%(after_changed_at)s::timestamptz, %(after_thread_id)s::uuid)
    ORDER BY t.changed_at DESC, t.thread_id DESC LIMIT %(window)s) t
WHERE to_tsvector('simple', translate(t.subject, '@.-_+/', '      ')) @@ to_tsquery('simple', %(words)s)
   OR (SELECT true FROM participants p WHERE p.workspace = t.workspace AND p.participant_id = t.participant_id AND
       to_tsvector('simple', translate(p.addr || ' ' || p.name, '@.-_+/', '      ')) @@ to_tsquery('simple', %(words)s) LIMIT 1)
   OR (SELECT true FROM conversation_passages s
       WHERE s.workspace = t.workspace AND s.thread_id = t.thread_id AND s.tsv @@ to_tsquery('english', %(words)s) LIMIT 1)
   OR (SELECT true FROM mails m WHERE m.workspace = t.workspace AND m.thread_id = t.thread_id AND m.author_addr = %(addr)s LIMIT 1)
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
       t.assignee, t.snoozed_until, coalesce(said.role, '') AS last_role, coalesce(said.begin, '') AS last_words,
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
