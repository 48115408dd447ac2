-- name: person
-- A participant by id, or those of an address, one a space; never one of another workspace.
SELECT DISTINCT ON (space) participant_id, space, addr, name, state, risk, sentiment, tags, first_seen_at, last_seen_at FROM participants
WHERE workspace = %(workspace)s AND (participant_id = %(id)s OR lower(addr COLLATE "C") = %(addr)s)
ORDER BY space, first_seen_at LIMIT 100;

-- name: profile
SELECT DISTINCT ON (field) field, value, by, reason, at, cause FROM participant_profile
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
ORDER BY field, at DESC;

-- name: people
SELECT participant_id, space, addr, name, state, risk, sentiment, tags, first_seen_at, last_seen_at FROM participants
WHERE workspace = %(workspace)s
  AND (last_seen_at, participant_id) < (%(after_last_seen_at)s::timestamptz, %(after_participant_id)s::uuid)
ORDER BY last_seen_at DESC, participant_id DESC LIMIT %(limit)s;

-- name: people_named
-- Those whose name or address has some words, by the index that the inbox searches people with: found first and then put in
-- order, since in their order everybody's words would be taken apart until a page is found.
WITH hit AS MATERIALIZED (
    SELECT participant_id, space, addr, name, state, risk, sentiment, tags, first_seen_at, last_seen_at FROM participants
    WHERE workspace = %(workspace)s
      AND to_tsvector('simple', translate(addr || ' ' || name, '@.-_+/', '      ')) @@ to_tsquery('simple', %(words)s))
SELECT * FROM hit
WHERE (last_seen_at, participant_id) < (%(after_last_seen_at)s::timestamptz, %(after_participant_id)s::uuid)
ORDER BY last_seen_at DESC, participant_id DESC LIMIT %(limit)s;

-- name: same_person
-- The other addresses of a person.
SELECT participant_id, space, addr, name, state, risk, sentiment, tags, first_seen_at, last_seen_at FROM participants
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND participant_id <> %(participant_id)s
ORDER BY addr, participant_id;

-- name: current
-- What is believed now, expired facts included (they are marked when shown).
SELECT fact_id, kind, key, value, text, confidence, importance, trust, pinned, stale_since, valid_from, valid_to,
       expires_at, recorded_at, superseded_at, superseded_by, retracted_at, merged_into, source_message_id, quote,
       span_start, span_end
FROM facts
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND superseded_at IS NULL
  AND NOT outranked((SELECT person_ids(%(participant_id)s))::uuid[], fact_id, %(now)s)
ORDER BY kind, key, recorded_at, fact_id;

-- name: as_of
-- What was so at `valid_at`, as it was known at `known_at`: of a key with one value the latest word that was said
-- by then and not withdrawn by then; and nothing, where that word had ended, expired or given way to another key's. Of what a person said under
-- several addresses that stands which `outranked` lets stand.
WITH said AS (
    SELECT f.*, s.said_at, s.at AS learned_at,
           CASE WHEN f.single_valued THEN f.key ELSE f.fact_id::text END AS place
    FROM facts f JOIN fact_sources s USING (fact_id)
    WHERE f.workspace = %(workspace)s AND f.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
      AND s.said_at <= %(valid_at)s AND s.at <= %(known_at)s
      AND (f.retracted_at IS NULL OR f.retracted_at > %(known_at)s)
),
latest AS (
    SELECT DISTINCT ON (participant_id, place) *,
           CASE trust WHEN 'human' THEN 2 WHEN 'authenticated' THEN 1 ELSE 0 END AS rank
    FROM said ORDER BY participant_id, place, said_at DESC, learned_at DESC, version DESC
),
current AS (
    SELECT * FROM latest
    WHERE (expires_at IS NULL OR expires_at > %(valid_at)s)
      AND (superseded_at <= %(known_at)s AND valid_to <= %(valid_at)s AND (superseded_by IS NULL OR NOT single_valued))
          IS NOT TRUE
      AND (superseded_at <= %(known_at)s AND merged_into IS NOT NULL) IS NOT TRUE
      AND (superseded_at <= %(known_at)s AND single_valued AND EXISTS (
              SELECT FROM said later WHERE later.fact_id = latest.superseded_by AND later.place <> latest.place))
          IS NOT TRUE
)
SELECT fact_id, kind, key, value, text, confidence, importance, trust, pinned, stale_since, valid_from, valid_to,
       expires_at, recorded_at, superseded_at, superseded_by, retracted_at, merged_into, source_message_id, quote,
       span_start, span_end
FROM current own
WHERE NOT EXISTS (
    SELECT 1 FROM current rival
    WHERE rival.participant_id <> own.participant_id AND rival.key = own.key
      AND (own.single_valued AND rival.single_valued OR lower(rival.value) = lower(own.value))
      AND (rival.rank, rival.said_at, rival.fact_id) > (own.rank, own.said_at, own.fact_id))
ORDER BY kind, key, valid_from, fact_id;

-- name: supports_then
-- What some facts rested on: said by `valid_at`, learned by `known_at`, that of the facts merged into them by then too.
SELECT shown_by, s.fact_id, s.trust, coalesce(s.mail_id, s.reply_id) AS mail_id, s.thread_id, s.said_at
FROM fact_sources s JOIN facts f USING (fact_id),
     LATERAL (SELECT CASE WHEN f.superseded_at <= %(known_at)s THEN coalesce(f.merged_into, f.fact_id) ELSE f.fact_id END
                     AS shown_by) AS place
WHERE s.workspace = %(workspace)s AND s.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND shown_by = ANY(%(fact_ids)s)
  AND s.said_at <= %(valid_at)s AND s.at <= %(known_at)s
ORDER BY s.version;

-- name: marks_then
-- What had been decided by then about how some facts stand.
SELECT fact_id, decision, at FROM fact_log
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND fact_id = ANY(%(fact_ids)s)
  AND decision IN ('pinned', 'unpinned', 'stale', 'corroborated') AND at <= least(%(valid_at)s, %(known_at)s)
ORDER BY version;

-- name: every
-- Every fact that there ever was, oldest first.
SELECT fact_id, kind, key, value, text, confidence, importance, trust, pinned, stale_since, valid_from, valid_to,
       expires_at, recorded_at, superseded_at, superseded_by, retracted_at, merged_into, source_message_id, quote,
       span_start, span_end
FROM facts
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND (%(fact_id)s::uuid IS NULL OR fact_id = %(fact_id)s) AND (%(keys)s::text[] IS NULL OR key = ANY(%(keys)s))
ORDER BY key, valid_from, recorded_at, fact_id;

-- name: sources
-- What each fact rests on: the customer's mail, ours, or a person.
SELECT s.fact_id, s.trust, s.mail_id, s.reply_id, s.thread_id, s.quote, s.quote_sha256, s.span_start, s.span_end,
       s.said_at, s.at,
       coalesce(m.message_id, d.message_id, '') AS message_id, coalesce(m.subject, '') AS subject
FROM fact_sources s
LEFT JOIN mails m ON m.mail_id = s.mail_id AND m.workspace = s.workspace
LEFT JOIN deliveries d ON d.reply_id = s.reply_id AND d.workspace = s.workspace
WHERE s.workspace = %(workspace)s AND s.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND s.fact_id = ANY(%(fact_ids)s)
ORDER BY s.said_at, s.version;

-- name: decisions
-- What was decided about each fact, in order.
SELECT fact_id, version, at, decision, reason, cause FROM fact_log
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND fact_id = ANY(%(fact_ids)s)
ORDER BY version;

-- name: decided_of_key
-- What tells the present state of a key from every earlier one: how much was granted about it, and the last of it.
SELECT count(*) || '/' || coalesce(max(version), 0) AS decided FROM fact_log
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND key = %(key)s AND fact_id IS NOT NULL;

-- name: erasures
SELECT count(*) AS erasures FROM erasures WHERE workspace = %(workspace)s;

-- name: people_of
-- Everybody, or those of one space, by id: no order that mail changes while a long restore goes through it.
SELECT participant_id, space, addr, name, state, risk, sentiment, tags, first_seen_at, last_seen_at FROM participants
WHERE workspace = %(workspace)s AND (%(space)s::text IS NULL OR space = %(space)s)
  AND participant_id > %(after)s::uuid
ORDER BY participant_id LIMIT %(limit)s;

-- name: count_people_of
SELECT count(*) AS people FROM participants
WHERE workspace = %(workspace)s AND (%(space)s::text IS NULL OR space = %(space)s);

-- name: refusals
-- Proposals and requests that did not hold, newest first.
SELECT at, decision, key, value, reason, cause, version, participant_id FROM fact_log
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND fact_id IS NULL AND (version, participant_id) < (%(after_version)s::bigint, %(after_participant_id)s::uuid)
ORDER BY version DESC, participant_id DESC LIMIT %(limit)s;

-- name: became
-- What became of a request: the decisions that it caused, first what was recorded or was asked about.
SELECT decision, fact_id, key, value, reason FROM fact_log
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND cause = %(cause)s
ORDER BY decision = 'recorded' DESC, coalesce(fact_id = %(fact_id)s, false) DESC, version;

-- name: briefs
-- The brief that holds, then what is to be merged into it.
SELECT version, text, by, bases, written_at FROM person_briefs(%(participant_id)s) WHERE shown;

-- name: brief_events
-- What was written as the brief of a person under each address, newest first, as far as it is in the table of events.
SELECT * FROM events
WHERE workspace = %(workspace)s AND aggregate = 'participant'
  AND aggregate_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND version IS NOT NULL AND type IN ('participant.brief_written.v1', 'participant.brief_diverged.v1')
ORDER BY seq DESC LIMIT %(limit)s;

-- name: edges_to_the_same
-- Facts of others in the same space that name a thing which a person's own facts name under the same key.
SELECT p.participant_id, coalesce(nullif(p.name, ''), p.addr) AS subject, f.key AS predicate, f.value AS object, f.fact_id,
       f.confidence::float8 AS confidence, f.valid_from AS since
FROM unnest(%(keys)s::text[], %(values)s::text[]) AS own (key, value)
JOIN facts f ON f.workspace = %(workspace)s AND f.key = own.key AND lower(f.value) = own.value
JOIN participants p ON p.participant_id = f.participant_id
WHERE f.superseded_at IS NULL AND (f.expires_at IS NULL OR f.expires_at > %(now)s) AND f.kind = ANY(%(kinds)s)
  AND NOT f.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND p.space = (SELECT own.space FROM participants own WHERE own.participant_id = %(participant_id)s)
  AND NOT outranked((SELECT person_ids(f.participant_id))::uuid[], f.fact_id, %(now)s)
ORDER BY f.key, lower(f.value), subject, f.fact_id LIMIT %(most)s;
