-- name: of_person
-- What one person may find of what was said: the passages of threads that they wrote in themselves, proven, and the
-- summaries that are theirs. Of mails their own, proven; of replies those that went to them, but no answer to a mail of
-- whom nothing proves. Another customer's mail of the thread is not among them, though it was sent to them: a prompt
-- about one person would keep it, sealed with that person's key alone, when the other is erased. Of the newest messages,
-- so many. A message's parts stand next to each other in their thread; a summary stands alone.
WITH person AS MATERIALIZED (SELECT person_ids(%(participant_id)s) AS ids),
address AS MATERIALIZED (
    SELECT coalesce(array_agg(lower(addr COLLATE "C")), ARRAY[]::text[]) AS addrs FROM participants
    WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT ids FROM person)::uuid[])),
theirs AS MATERIALIZED (
    SELECT DISTINCT thread_id FROM mails
    WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT ids FROM person)::uuid[]) AND trusted
      AND thread_id IS DISTINCT FROM %(without_thread)s::uuid),
unproven AS MATERIALIZED (
    SELECT u.turn_id FROM theirs JOIN turns u USING (thread_id) JOIN mails m ON m.mail_id = ANY(u.mail_ids)
    WHERE NOT m.trusted),
seen AS MATERIALIZED (
    SELECT c.thread_id, c.version, written_at(m.mode, m.sent_at, c.at) AS at,
           CASE WHEN c.role = 'customer' THEN coalesce(nullif(m.author_name, ''), m.author_addr) ELSE '' END AS speaker
    FROM theirs JOIN conversation c USING (thread_id)
    LEFT JOIN mails m ON m.mail_id = CASE WHEN c.mail_id IS NULL THEN c.reply_id ELSE c.mail_id END
    LEFT JOIN deliveries d ON d.reply_id = c.reply_id
    WHERE c.workspace = %(workspace)s AND c.gone_at IS NULL
      AND written_at(m.mode, m.sent_at, c.at) >= coalesce(%(since)s::timestamptz, '-infinity')
      AND written_at(m.mode, m.sent_at, c.at) < coalesce(%(until)s::timestamptz, 'infinity')
      AND (c.mail_id IS NULL OR NOT c.mail_id = ANY(%(without_mails)s::uuid[]))
      AND (c.role <> 'customer' OR c.trusted AND m.trusted AND m.participant_id = ANY((SELECT ids FROM person)::uuid[]))
      AND (d.turn_id IS NULL OR d.turn_id NOT IN (SELECT turn_id FROM unproven))
      AND coalesce(CASE WHEN m.mail_id IS NOT NULL
                        THEN (SELECT addrs FROM address)::text[] && (m.recipients || m.author_addr) END,
                   lower(d.recipient COLLATE "C") = ANY((SELECT addrs FROM address)::text[]), false)
    ORDER BY at DESC, c.thread_id, c.version DESC LIMIT %(newest)s)
SELECT p.passage_id AS id, thread_id AS stream,
       row_number() OVER (PARTITION BY thread_id ORDER BY version, p.part)::int AS position,
       seen.speaker, p.text, p.tsv, CASE WHEN p.embedding_model = %(model)s THEN p.embedding END AS embedding, seen.at
FROM seen JOIN conversation_passages p USING (thread_id, version)
UNION ALL
SELECT s.summary_id, s.thread_id, -9, '', s.text, s.tsv,
       CASE WHEN s.embedding_model = %(model)s THEN s.embedding END, s.updated_at
FROM theirs JOIN thread_summaries s USING (thread_id)
WHERE s.participant_id = ANY((SELECT ids FROM person)::uuid[]) AND s.trusted
  AND s.updated_at >= coalesce(%(since)s::timestamptz, '-infinity')
  AND s.updated_at < coalesce(%(until)s::timestamptz, 'infinity')

-- name: of_everybody
-- What anybody said to us and we to them, proven or not, for operators: of the newest messages, so many.
WITH seen AS MATERIALIZED (
    SELECT c.thread_id, c.version, written_at(m.mode, m.sent_at, c.at) AS at,
           CASE WHEN c.role = 'customer' THEN coalesce(nullif(m.author_name, ''), m.author_addr, '') ELSE '' END AS speaker
    FROM conversation c LEFT JOIN mails m ON m.mail_id = CASE WHEN c.mail_id IS NULL THEN c.reply_id ELSE c.mail_id END
    WHERE c.workspace = %(workspace)s AND c.gone_at IS NULL
    ORDER BY c.at DESC, c.thread_id, c.version DESC LIMIT %(newest)s)
SELECT p.passage_id AS id, thread_id AS stream,
       row_number() OVER (PARTITION BY thread_id ORDER BY version, p.part)::int AS position,
       seen.speaker, p.text, p.tsv, CASE WHEN p.embedding_model = %(model)s THEN p.embedding END AS embedding, seen.at
FROM seen JOIN conversation_passages p USING (thread_id, version)

-- name: speakers
-- The names under which a person wrote last, proven, from whichever of their addresses.
SELECT DISTINCT author_name AS name
FROM (SELECT author_name FROM mails
      WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) AND trusted
      ORDER BY received_at DESC LIMIT %(newest)s) AS newest
WHERE author_name <> ''

-- name: by_id
-- What some passages and summaries say, who says it, when, and in which thread.
SELECT p.passage_id AS id, p.thread_id, t.subject, t.state, c.role, written_at(m.mode, m.sent_at, c.at) AS at, p.text,
       CASE WHEN c.role = 'customer' THEN coalesce(nullif(m.author_name, ''), m.author_addr, '') ELSE '' END AS author
FROM conversation_passages p JOIN conversation c USING (thread_id, version) JOIN threads t USING (thread_id)
LEFT JOIN mails m ON m.mail_id = CASE WHEN c.mail_id IS NULL THEN c.reply_id ELSE c.mail_id END
WHERE p.workspace = %(workspace)s AND p.passage_id = ANY(%(ids)s)
UNION ALL
SELECT s.summary_id, s.thread_id, t.subject, t.state, 'summary', s.updated_at, s.text, ''
FROM thread_summaries s JOIN threads t USING (thread_id)
WHERE s.workspace = %(workspace)s AND s.summary_id = ANY(%(ids)s)
