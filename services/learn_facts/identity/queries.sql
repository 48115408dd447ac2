-- name: one_at_a_time
-- Two merges at once could make a ring of several.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace)s || chr(31) || 'people', 2));

-- name: people
-- Everybody who is one person with one of these.
SELECT array_agg(DISTINCT one) AS people FROM unnest(%(ids)s::uuid[]) AS id, unnest(person_ids(id)) AS one;

-- name: keeper
-- Under which of a person's addresses a fact is kept.
SELECT participant_id FROM facts WHERE fact_id = %(fact_id)s AND workspace = %(workspace)s
  AND participant_id = ANY(person_ids(%(participant_id)s));

-- name: alias
-- Whom a participant is merged into.
SELECT into_id, event_id FROM participant_aliases WHERE participant_id = %(participant_id)s;

-- name: written_since
-- Whether a participant's brief and session were written after an event.
SELECT EXISTS (SELECT 1 FROM briefs b WHERE b.participant_id = %(participant_id)s AND EXISTS (
           SELECT 1 FROM events e WHERE e.aggregate = 'participant' AND e.aggregate_id = %(participant_id)s AND e.version IS NOT NULL
             AND e.type IN ('participant.brief_written.v1', 'participant.brief_diverged.v1') AND e.seq > m.seq)) AS brief,
       (SELECT s.thread_id FROM sessions s WHERE s.participant_id = %(participant_id)s AND EXISTS (
           SELECT 1 FROM events e WHERE e.aggregate = 'participant' AND e.aggregate_id = %(participant_id)s AND e.version IS NOT NULL
             AND e.type = 'participant.session_noted.v1' AND e.seq > m.seq)) AS thread_id
FROM events m WHERE m.id = %(event_id)s;

-- name: brief_before
-- The brief that a participant had when an event was stored.
SELECT e.id, e.type, e.data FROM events e
WHERE e.aggregate = 'participant' AND e.aggregate_id = %(participant_id)s AND e.version IS NOT NULL AND e.type = 'participant.brief_written.v1'
  AND e.seq < (SELECT seq FROM events WHERE id = %(event_id)s)
ORDER BY e.seq DESC LIMIT 1;

-- name: kept_sources
-- What each fact of a participant rests on, and whether that is another mailbox's: its mail, or our words in its thread.
SELECT s.fact_id, s.mail_id, s.reply_id, s.thread_id, s.trust, s.quote, s.span_start, s.span_end, s.said_at,
       coalesce(m.message_id, '') AS message_id,
       coalesce(m.participant_id = %(into)s, thread_of_one(s.thread_id, %(into)s, %(participant_id)s), false) AS moves
FROM fact_sources s LEFT JOIN mails m ON m.mail_id = s.mail_id
WHERE s.workspace = %(workspace)s AND s.participant_id = %(participant_id)s ORDER BY s.version;

-- name: kept_facts
-- All that is believed or was, and not withdrawn.
SELECT fact_id, kind, key, value, text, single_valued, confidence, importance, trust, valid_from, expires_at,
       superseded_at, merged_into
FROM facts WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND retracted_at IS NULL
ORDER BY recorded_at, fact_id;

-- name: kept_relations
-- The edges that rest on the other mailbox's mails.
SELECT r.subject, r.predicate, r.object, r.quote, r.confidence, r.source_mail, r.relation_id
FROM relations r JOIN mails m ON m.mail_id = r.source_mail AND m.participant_id = %(into)s
WHERE r.workspace = %(workspace)s AND r.participant_id = %(participant_id)s AND r.deleted_at IS NULL
ORDER BY r.relation_id;

-- name: kept_issues
-- The open issues of the other mailbox's threads.
SELECT issue_key, thread_id FROM participant_issues
WHERE participant_id = %(participant_id)s AND NOT resolved AND thread_of_one(thread_id, %(into)s, %(participant_id)s)
ORDER BY issue_key;

-- name: insert_alias
INSERT INTO participant_aliases (participant_id, workspace, into_id, by, reason, event_id, at)
VALUES (%(participant_id)s, %(workspace)s, %(into)s, %(by)s, %(reason)s, %(event_id)s, %(at)s);

-- name: delete_alias
DELETE FROM participant_aliases WHERE participant_id = %(participant_id)s;
