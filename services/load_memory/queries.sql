-- name: mails
-- The mails of a turn, oldest first.
SELECT mail_id, participant_id, message_id, subject, text, quoted, signature, author_name, author_addr, received_at, language, flags, attachments
FROM mails WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at, mail_id;

-- name: earlier_mails
-- How many customers' mails of the thread are not of this turn.
SELECT count(*) AS n FROM conversation
WHERE thread_id = %(thread_id)s AND role = 'customer' AND NOT mail_id = ANY(%(mail_ids)s);

-- name: participant
-- Whom we write to: as they were seen last, under whichever address, with the worst risk of all of them.
WITH person AS MATERIALIZED (
    SELECT * FROM participants WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]))
SELECT name, addr, state, sentiment, sentiment_before, tags, last_seen_at,
       (SELECT risk FROM person ORDER BY array_position(ARRAY['high', 'medium', 'low'], risk) LIMIT 1) AS risk,
       (SELECT max(frustrated_in_row) FROM person) AS frustrated_in_row,
       (SELECT min(first_seen_at) FROM person) AS first_seen_at
FROM person
ORDER BY last_seen_at DESC, participant_id LIMIT 1;

-- name: addresses
-- The addresses of one person.
SELECT participant_id, lower(addr COLLATE "C") AS addr FROM participants
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
ORDER BY participant_id;

-- name: profile
-- What our own people keep of the author.
SELECT DISTINCT ON (field) field, value FROM participant_profile
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) ORDER BY field, at DESC, participant_id;

-- name: unused
-- Those of some facts that are light, not pinned, and were neither learned, said again, asked for nor cited since a
-- moment; none before that is counted.
SELECT f.fact_id FROM facts f LEFT JOIN fact_uses u USING (fact_id)
WHERE f.fact_id = ANY(%(fact_ids)s) AND NOT f.pinned AND f.importance < %(below)s
  AND EXISTS (SELECT FROM fact_uses_counted c WHERE c.workspace = %(workspace)s)
  AND greatest(f.recorded_at, u.asked_at, u.cited_at, (SELECT max(s.at) FROM fact_sources s WHERE s.fact_id = f.fact_id)) < %(before)s;

-- name: issues
-- What this participant reported, newest first.
SELECT issue_key, sum(reports)::int AS reports, bool_and(resolved) AS resolved, min(first_at) AS first_at,
       max(last_at) AS last_at
FROM participant_issues WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
GROUP BY issue_key ORDER BY last_at DESC;

-- name: version
-- How far an aggregate has come; of a person who writes from several addresses, each of them.
SELECT string_agg(CASE WHEN id = %(id)s THEN version::text ELSE id || '.' || version END, '+' ORDER BY id <> %(id)s, id)
           AS version
FROM aggregates WHERE workspace = %(workspace)s AND kind = %(kind)s
  AND id = ANY((SELECT CASE %(kind)s WHEN 'participant' THEN person_ids(%(id)s) ELSE ARRAY[%(id)s]::uuid[] END)::uuid[]);

-- name: briefs
-- The brief that holds, then what was written at the same time and is not merged yet.
SELECT text FROM person_briefs(%(participant_id)s) WHERE shown;

-- name: session
-- The last hours with this participant, over or not.
SELECT thread_id, summary, entities, actions, updated_at, expires_at FROM sessions
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) ORDER BY updated_at DESC, participant_id LIMIT 1;

-- name: uncovered
-- What the author themselves wrote lately in other threads and no summary covers yet, newest first.
SELECT m.subject, c.text, c.at, c.pending
FROM mails m JOIN conversation c USING (thread_id, mail_id)
LEFT JOIN thread_summaries s ON s.thread_id = m.thread_id AND s.participant_id = m.participant_id AND s.trusted
WHERE m.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) AND m.workspace = %(workspace)s
  AND m.trusted AND m.mode = 'live' AND m.received_at BETWEEN %(since)s AND %(now)s AND m.thread_id <> %(thread_id)s
  AND c.gone_at IS NULL AND c.version > coalesce(s.covers_to, 0)
ORDER BY c.at DESC, c.version DESC LIMIT %(most)s;

-- name: summary
-- What the author of the turn and we have said in the thread, under each of their addresses, the oldest first.
SELECT string_agg(text, E'\n\n' ORDER BY covers_to, participant_id) AS text, max(updated_at) AS updated_at
FROM thread_summaries
WHERE thread_id = %(thread_id)s AND array_position(%(author_ids)s::uuid[], participant_id) IS NOT NULL AND trusted = %(trusted)s
HAVING count(*) > 0;

-- name: earlier_summaries
-- The participant's other threads, newest first: what the newest of them were about, and some others, each with the last
-- reply to them that its summary does not cover. What somebody wrote in their name is not theirs, nor is an answer to it.
-- An imported thread is as old as its newest mail.
SELECT theirs.*, reply.text AS reply, reply.at AS replied_at FROM (
    SELECT t.thread_id, t.subject, t.state, s.text, s.covers_to, written_at(newest.mode, newest.sent_at, s.updated_at) AS updated_at,
           row_number() OVER (ORDER BY written_at(newest.mode, newest.sent_at, s.updated_at) DESC, t.thread_id) AS place
    FROM thread_summaries s JOIN threads t USING (thread_id)
    JOIN LATERAL (SELECT m.mode, m.sent_at FROM mails m
                  WHERE m.thread_id = t.thread_id AND m.participant_id = s.participant_id AND m.trusted
                  ORDER BY written_at(m.mode, m.sent_at, m.received_at) DESC, m.mail_id LIMIT 1) newest ON true
    WHERE t.workspace = %(workspace)s AND s.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
      AND s.trusted AND t.thread_id <> %(thread_id)s) AS theirs
LEFT JOIN LATERAL (
    SELECT c.text, c.at FROM conversation c JOIN deliveries d USING (reply_id)
    WHERE c.thread_id = theirs.thread_id AND c.version > theirs.covers_to AND c.gone_at IS NULL
      AND NOT unproven_turn(d.turn_id) AND lower(d.recipient COLLATE "C") IN (
          SELECT lower(addr COLLATE "C") FROM participants
          WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]))
    ORDER BY c.version DESC LIMIT 1) AS reply ON true
WHERE place <= %(limit)s OR theirs.thread_id = ANY(%(thread_ids)s) ORDER BY place;

-- name: thread
SELECT subject, state, opened_at, changed_at FROM threads WHERE thread_id = %(thread_id)s;

-- name: goals
-- What is to be reached with the author of the turn. A proven author sees none that an unproven turn added in their name.
SELECT goal_id, text, added_at FROM goals
WHERE thread_id = %(thread_id)s AND array_position(%(author_ids)s::uuid[], participant_id) IS NOT NULL
  AND closed_at IS NULL AND NOT (%(trusted)s AND unproven_moment(thread_id, added_at))
ORDER BY added_at, goal_id;

-- name: actions
-- What was done about the author of the turn; for a proven one not what an unproven turn brought about.
SELECT action, detail, at FROM thread_actions
WHERE thread_id = %(thread_id)s AND array_position(%(author_ids)s::uuid[], participant_id) IS NOT NULL
  AND NOT (%(trusted)s AND unproven_moment(thread_id, at))
ORDER BY version DESC LIMIT 20;

-- name: entities
-- What is kept in mind of the author of the turn, for a proven one alone.
SELECT name, value FROM thread_entities
WHERE thread_id = %(thread_id)s AND array_position(%(author_ids)s::uuid[], participant_id) IS NOT NULL
  AND %(trusted)s AND expires_at > %(now)s
ORDER BY version DESC, name;

-- name: past
-- What came to pass with this participant, newest first: values that no longer hold (what was never so, or is shown as
-- another fact, is none), other threads since they wrote there, and where they stood as a customer.
WITH person AS MATERIALIZED (SELECT person_ids(%(participant_id)s) AS people)
(SELECT 'fact' AS what, fact_id AS id, valid_from AS at, text, least(valid_to, expires_at) AS until, importance AS weight,
        ARRAY[fact_id, ending_of(fact_id)] AS covers
 FROM facts WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT people FROM person)::uuid[])
   AND (superseded_at <= %(now)s OR expires_at <= %(now)s) AND retracted_at IS NULL AND merged_into IS NULL
   AND least(valid_to, expires_at) <= %(now)s
 ORDER BY valid_from DESC LIMIT %(most)s)
UNION ALL
(SELECT 'thread', t.thread_id, theirs.at, format('«%%s», %%s', t.subject, t.state), NULL, 0.5, ARRAY[s.summary_id]
 FROM thread_summaries s JOIN threads t USING (thread_id)
 CROSS JOIN LATERAL (
     SELECT min(written_at(m.mode, m.sent_at, m.received_at)) AS at
     FROM mails m WHERE m.thread_id = t.thread_id AND m.participant_id = s.participant_id AND m.trusted) AS theirs
 WHERE t.workspace = %(workspace)s AND s.participant_id = ANY((SELECT people FROM person)::uuid[])
   AND s.trusted AND t.thread_id <> %(thread_id)s AND theirs.at IS NOT NULL
 ORDER BY theirs.at DESC LIMIT %(most)s)
UNION ALL
(SELECT 'standing', participant_id, at, format('became %%s', replace(to_state, '_', ' ')), NULL, 1,
        ARRAY[md5(format('%%s/%%s/standing', participant_id, version))::uuid]
 FROM participant_log WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT people FROM person)::uuid[])
   AND refused = '' ORDER BY version DESC LIMIT %(most)s)
ORDER BY at DESC, what, id;

-- name: incidents
-- Incidents of an inbox that are open, or were closed lately, as of now; the newest first.
SELECT incident_id, is_open, closed_at, answer FROM incidents
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND opened_at <= %(now)s
  AND (is_open OR closed_at >= %(closed_since)s)
ORDER BY opened_at DESC, incident_id LIMIT %(most)s;

-- name: reports
-- The reports of some incidents, by incident, the oldest first.
SELECT r.report_id, r.participant_id, r.thread_id, r.mail_id, r.trouble, r.names, r.said_at, r.incident_id,
       (person_ids(r.participant_id))[1] AS person, m.author_addr
FROM trouble_reports r JOIN mails m USING (mail_id)
WHERE r.incident_id = ANY(%(incidents)s) ORDER BY r.incident_id, r.said_at, r.report_id;

-- name: person
-- What stands for all addresses of one person.
SELECT (person_ids(%(participant_id)s))[1] AS person;

-- name: patterns
-- What happened again and again to this participant's threads, by sort and reason, the last seen first.
WITH person AS MATERIALIZED (SELECT person_ids(%(participant_id)s) AS people),
theirs AS MATERIALIZED (
    SELECT DISTINCT thread_id FROM thread_summaries
    WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT people FROM person)::uuid[]) AND trusted),
seen AS (
    SELECT CASE to_state WHEN 'closed' THEN 'a matter stayed settled' ELSE 'a settled matter came up again' END AS type,
           '' AS data, at
    FROM theirs JOIN thread_log USING (thread_id)
    WHERE refused = '' AND (from_state = 'resolved' AND to_state IN ('closed', 'in_progress')
                            OR from_state = 'closed' AND to_state = 'new')
    UNION ALL
    SELECT 'a person had to take over', detail, at
    FROM theirs JOIN thread_actions USING (thread_id)
    WHERE action = 'escalated to a human' AND participant_id = ANY((SELECT people FROM person)::uuid[])
    UNION ALL
    SELECT 'a person would not send the draft', reason, closed_at
    FROM theirs JOIN turns t USING (thread_id)
    WHERE outcome = 'rejected' AND EXISTS (
        SELECT 1 FROM mails m
        WHERE m.mail_id = ANY(t.mail_ids) AND m.trusted AND m.participant_id = ANY((SELECT people FROM person)::uuid[])))
SELECT type, data, count(*)::int AS occurrences, max(at) AS last_at FROM seen
GROUP BY type, data ORDER BY last_at DESC, type, data LIMIT %(most)s;

-- name: recent
-- What the author of the turn has seen of the thread, newest first and without the mails that are being answered: the
-- newest rows within the retention, and all that the summary does not cover yet, up to a bound. Mails are seen by who
-- wrote them and who stands in To or Cc, replies by whom they went to. A proven author sees no mail of whom nothing
-- proves, and no answer to one: older threads, in which both were, hold such.
WITH seen AS NOT MATERIALIZED (
    SELECT c.version, c.role, c.text, written_at(m.mode, m.sent_at, c.at) AS at,
           c.trusted AND (c.role <> 'customer' OR coalesce(m.trusted, false)) AS trusted,
           m.participant_id AS author_id, coalesce(nullif(m.author_name, ''), m.author_addr, '') AS author,
           coalesce(m.author_addr, '') AS address
    FROM conversation c LEFT JOIN mails m ON m.mail_id = CASE WHEN c.mail_id IS NULL THEN c.reply_id ELSE c.mail_id END
    LEFT JOIN deliveries d ON d.reply_id = c.reply_id
    WHERE c.thread_id = %(thread_id)s AND c.gone_at IS NULL
      AND (c.mail_id IS NULL OR NOT c.mail_id = ANY(%(mail_ids)s))
      AND (NOT %(trusted)s OR c.role <> 'customer' OR coalesce(m.trusted, false))
      AND NOT (%(trusted)s AND c.role = 'agent' AND d.turn_id IS NOT NULL AND unproven_turn(d.turn_id))
      AND coalesce(CASE WHEN m.mail_id IS NOT NULL THEN %(addrs)s::text[] && (m.recipients || m.author_addr) END,
                   lower(d.recipient COLLATE "C") = ANY(%(addrs)s), true)),
covered AS (
    SELECT coalesce(max(covers_to), 0) AS version FROM thread_summaries
    WHERE thread_id = %(thread_id)s AND array_position(%(author_ids)s::uuid[], participant_id) IS NOT NULL AND trusted = %(trusted)s)
(SELECT * FROM seen WHERE at >= %(since)s ORDER BY version DESC LIMIT %(limit)s)
UNION
(SELECT * FROM seen WHERE version > (SELECT version FROM covered) ORDER BY version DESC LIMIT %(most)s)
ORDER BY version DESC;
