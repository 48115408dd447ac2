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
           SELECT 1 FROM events e WHERE e.aggregate = 'participant' AND e.aggregate_id = %(participant_id)s
             AND e.type = 'participant.brief_written.v1' AND e.seq > m.seq)) AS brief,
       (SELECT s.thread_id FROM sessions s WHERE s.participant_id = %(participant_id)s AND EXISTS (
           SELECT 1 FROM events e WHERE e.aggregate = 'participant' AND e.aggregate_id = %(participant_id)s
             AND e.type = 'participant.session_noted.v1' AND e.seq > m.seq)) AS thread_id
FROM events m WHERE m.id = %(event_id)s;

-- name: brief_before
-- The brief that a participant had when an event was stored.
SELECT e.id, e.type, e.data FROM events e
WHERE e.aggregate = 'participant' AND e.aggregate_id = %(participant_id)s AND e.type = 'participant.brief_written.v1'
  AND e.seq < (SELECT seq FROM events WHERE id = %(event_id)s)
ORDER BY e.seq DESC LIMIT 1;

-- name: insert_alias
INSERT INTO participant_aliases (participant_id, workspace, into_id, by, reason, event_id, at)
VALUES (%(participant_id)s, %(workspace)s, %(into)s, %(by)s, %(reason)s, %(event_id)s, %(at)s);

-- name: delete_alias
DELETE FROM participant_aliases WHERE participant_id = %(participant_id)s;
