-- name: thread
-- The thread that is asked about, and whether the participant wrote in it, proven.
SELECT t.inbox, t.subject, EXISTS (
    SELECT FROM mails m WHERE m.thread_id = t.thread_id AND m.trusted
      AND m.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])) AS wrote
FROM threads t WHERE t.thread_id = %(thread_id)s;

-- name: person
-- The participant, as they were seen last, under whichever address.
SELECT name, addr, state, risk, sentiment, tags, first_seen_at, last_seen_at FROM participants
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
ORDER BY last_seen_at DESC, participant_id LIMIT 1;

-- name: profile
SELECT DISTINCT ON (field) field, value FROM participant_profile
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) ORDER BY field, at DESC, participant_id;

-- name: issues
SELECT issue_key, sum(reports)::int AS reports, bool_and(resolved) AS resolved FROM participant_issues
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
GROUP BY issue_key ORDER BY max(last_at) DESC LIMIT 50;

-- name: brief
-- The brief that holds.
SELECT version, text FROM person_briefs(%(participant_id)s) WHERE shown LIMIT 1;

-- name: facts
-- What is believed now, the newest first.
SELECT fact_id, kind, key, value, text, trust, valid_from FROM facts
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) AND superseded_at IS NULL
  AND (expires_at IS NULL OR expires_at > %(now)s)
  AND NOT outranked((SELECT person_ids(%(participant_id)s))::uuid[], fact_id, %(now)s)
ORDER BY recorded_at DESC, fact_id LIMIT 400;

-- name: messages
-- What the participant wrote, proven, and what was written to them, in the threads in which they wrote: nobody else's mail,
-- though it stands in the same thread, and no answer to a mail of whom nothing proves. The newest so many.
WITH person AS MATERIALIZED (SELECT person_ids(%(participant_id)s) AS ids),
address AS MATERIALIZED (
    SELECT coalesce(array_agg(lower(addr COLLATE "C")), ARRAY[]::text[]) AS addrs FROM participants
    WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT ids FROM person)::uuid[])),
theirs AS MATERIALIZED (
    SELECT DISTINCT thread_id FROM mails
    WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT ids FROM person)::uuid[]) AND trusted),
unproven AS MATERIALIZED (
    SELECT u.turn_id FROM theirs JOIN turns u USING (thread_id) JOIN mails m ON m.mail_id = ANY(u.mail_ids)
    WHERE NOT m.trusted)
SELECT t.thread_id, c.version, t.subject, t.state, c.role, c.mail_id, written_at(m.mode, m.sent_at, c.at) AS at, c.text
FROM theirs JOIN threads t USING (thread_id) JOIN conversation c ON c.thread_id = t.thread_id
LEFT JOIN mails m ON m.mail_id = CASE WHEN c.mail_id IS NULL THEN c.reply_id ELSE c.mail_id END
LEFT JOIN deliveries d ON d.reply_id = c.reply_id
WHERE c.gone_at IS NULL
  AND (c.role <> 'customer' OR c.trusted AND m.trusted AND m.participant_id = ANY((SELECT ids FROM person)::uuid[]))
  AND (d.turn_id IS NULL OR d.turn_id NOT IN (SELECT turn_id FROM unproven))
  AND coalesce(CASE WHEN m.mail_id IS NOT NULL
                    THEN (SELECT addrs FROM address)::text[] && (m.recipients || m.author_addr) END,
               lower(d.recipient COLLATE "C") = ANY((SELECT addrs FROM address)::text[]), false)
ORDER BY at DESC, t.thread_id, c.version DESC LIMIT %(most)s;

-- name: quotable
-- What some mails of the participant say, proven.
SELECT m.mail_id, c.text FROM mails m JOIN conversation c USING (thread_id, mail_id)
WHERE m.mail_id = ANY(%(mail_ids)s) AND m.trusted AND c.gone_at IS NULL
  AND m.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]);

-- name: kept
-- What earlier investigations of the participant left.
SELECT path, text FROM investigation_files WHERE participant_id = %(participant_id)s ORDER BY path;

-- name: one
SELECT investigation_id, participant_id, of_thread, state, outcome, opened_version, rounds, gone_at FROM investigations
WHERE investigation_id = %(investigation_id)s AND participant_id = %(participant_id)s;

-- name: open_ones
SELECT count(*)::int AS n FROM investigations WHERE participant_id = %(participant_id)s AND state = 'open';

-- name: story
-- The events that opened an investigation and took its rounds, in order: each is caused by the one before.
SELECT e.* FROM events o JOIN events e USING (correlation_id)
WHERE o.workspace = %(workspace)s AND o.aggregate = 'investigations' AND o.aggregate_id = %(participant_id)s AND o.version = %(since)s
  AND e.workspace = o.workspace AND e.aggregate = o.aggregate AND e.aggregate_id = o.aggregate_id AND e.version >= o.version
  AND e.type IN ('investigation.opened.v1', 'investigation.round_taken.v1')
ORDER BY e.version;

-- name: proposal
SELECT content, state FROM investigation_proposals
WHERE proposal_id = %(proposal_id)s AND investigation_id = %(investigation_id)s AND participant_id = %(participant_id)s;

-- name: old_ones
-- Closed ones from before a moment whose words are kept.
SELECT investigation_id FROM investigations
WHERE participant_id = %(participant_id)s AND state = 'closed' AND gone_at IS NULL AND closed_at < %(before)s
ORDER BY opened_at, investigation_id;

-- name: open
INSERT INTO investigations (investigation_id, participant_id, workspace, of_thread, state, question, by, opened_at, opened_version)
VALUES (%(investigation_id)s, %(participant_id)s, %(workspace)s, %(thread_id)s, 'open', %(question)s, %(by)s, %(at)s, %(version)s)
ON CONFLICT DO NOTHING;

-- name: take_round
UPDATE investigations SET rounds = %(number)s, tokens_in = tokens_in + %(tokens_in)s, tokens_out = tokens_out + %(tokens_out)s
WHERE investigation_id = %(investigation_id)s;

-- name: close
-- One that was refused was never open.
INSERT INTO investigations AS i (investigation_id, participant_id, workspace, of_thread, state, question, by, opened_at, opened_version,
                                 outcome, reason, note, diff, outputs, conflicts, dropped, closed_at)
VALUES (%(investigation_id)s, %(participant_id)s, %(workspace)s, %(thread_id)s, 'closed', %(question)s, %(by)s, %(at)s, %(version)s,
        %(outcome)s, %(reason)s, %(note)s, %(diff)s, %(outputs)s, %(conflicts)s, %(dropped)s, %(at)s)
ON CONFLICT (investigation_id) DO UPDATE SET state = 'closed', outcome = excluded.outcome, reason = excluded.reason,
    note = excluded.note, diff = excluded.diff, outputs = excluded.outputs, conflicts = excluded.conflicts,
    dropped = excluded.dropped, closed_at = excluded.closed_at
WHERE i.state = 'open';

-- name: propose
INSERT INTO investigation_proposals (proposal_id, investigation_id, participant_id, workspace, place, content)
VALUES (%(proposal_id)s, %(investigation_id)s, %(participant_id)s, %(workspace)s, %(place)s, %(content)s)
ON CONFLICT DO NOTHING;

-- name: keep_file
INSERT INTO investigation_files (participant_id, path, workspace, text, investigation_id, at)
VALUES (%(participant_id)s, %(path)s, %(workspace)s, %(text)s, %(investigation_id)s, %(at)s)
ON CONFLICT (participant_id, path) DO UPDATE SET text = excluded.text, investigation_id = excluded.investigation_id, at = excluded.at;

-- name: drop_file
DELETE FROM investigation_files WHERE participant_id = %(participant_id)s AND path = %(path)s;

-- name: decide
UPDATE investigation_proposals SET state = CASE WHEN %(accepted)s THEN 'accepted' ELSE 'rejected' END,
    decided_by = %(by)s, decided_at = %(at)s, request_id = %(request_id)s
WHERE proposal_id = %(proposal_id)s;

-- name: expire
UPDATE investigations SET question = '', reason = '', note = '', diff = '', outputs = '[]', conflicts = '{}', dropped = '{}', gone_at = %(at)s
WHERE participant_id = %(participant_id)s AND investigation_id = ANY(%(investigation_ids)s);

-- name: expire_proposals
DELETE FROM investigation_proposals
WHERE participant_id = %(participant_id)s AND investigation_id = ANY(%(investigation_ids)s);

-- name: expire_files
DELETE FROM investigation_files WHERE participant_id = %(participant_id)s AND investigation_id = ANY(%(investigation_ids)s);
