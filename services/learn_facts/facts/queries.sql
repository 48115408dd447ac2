-- name: facts
-- What is believed now and what was, merged members included.
SELECT fact_id, kind, key AS kept_key, value, text, trust, valid_from, valid_to, expires_at, single_valued, pinned,
       stale_since IS NOT NULL AS stale, apart_from, recorded_at, superseded_at, superseded_by,
       retracted_at AS withdrawn_at, merged_into
FROM facts
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s
ORDER BY recorded_at, fact_id;

-- name: parents
SELECT fact_id, parent_id FROM fact_parents WHERE participant_id = %(participant_id)s ORDER BY fact_id, parent_id;

-- name: keepers
-- Under which other addresses of the same person these facts are kept.
SELECT DISTINCT participant_id FROM facts
WHERE workspace = %(workspace)s AND fact_id = ANY(%(named)s) AND participant_id <> %(participant_id)s
  AND participant_id = ANY(person_ids(%(participant_id)s))
ORDER BY participant_id;

-- name: resting_elsewhere
-- Under which addresses, these apart, something was derived from these facts.
SELECT DISTINCT participant_id FROM fact_parents
WHERE workspace = %(workspace)s AND parent_id = ANY(%(ended)s) AND participant_id <> ALL(%(known)s)
ORDER BY participant_id;

-- name: sources
-- Every support, in the order in which we learned of it; our own mails count under their id too.
SELECT fact_id, trust, coalesce(mail_id, reply_id) AS mail_id, thread_id, said_at FROM fact_sources
WHERE participant_id = %(participant_id)s ORDER BY version;

-- name: record_fact
-- The fact with its source, its parents and its line in the log. First the rows that it supersedes end: what was believed
-- until now, and when it was so; a correction says that it never was. A fact that came late is no current value from the
-- start.
WITH ended AS (
    UPDATE facts SET superseded_at = %(at)s, superseded_by = %(fact_id)s, version = %(version)s,
        retracted_at = CASE WHEN %(corrects)s THEN %(at)s ELSE retracted_at END,
        valid_to = CASE WHEN %(corrects)s THEN valid_to
                        ELSE coalesce(valid_to, greatest(valid_from, %(valid_from)s)) END
    WHERE fact_id = ANY(%(supersedes)s) RETURNING fact_id
),
fact AS (
    INSERT INTO facts (fact_id, workspace, participant_id, kind, key, value, text, words, single_valued, confidence,
                       importance, trust, valid_from, valid_to, expires_at, recorded_at, superseded_at, superseded_by,
                       source_event_id, source_message_id, quote, quote_sha256, span_start, span_end, version)
    SELECT %(fact_id)s, %(workspace)s, %(participant_id)s, %(kind)s, %(key)s, %(value)s, %(text)s,
           text_words(%(text)s), %(single_valued)s, %(confidence)s, %(importance)s, %(trust)s, %(valid_from)s,
           %(valid_to)s, %(expires_at)s, %(at)s,
           CASE WHEN %(past)s THEN %(at)s::timestamptz END, %(superseded_by)s, %(event_id)s,
           nullif(%(source_message_id)s, ''), nullif(%(quote)s, ''), %(quote_sha256)s, %(span_start)s, %(span_end)s,
           %(version)s
    FROM (SELECT count(*) FROM ended) AS once_they_ended
),
source AS (
    INSERT INTO fact_sources (fact_id, version, workspace, participant_id, mail_id, reply_id, thread_id, trust, quote,
                              quote_sha256, span_start, span_end, said_at, at)
    VALUES (%(fact_id)s, %(version)s, %(workspace)s, %(participant_id)s, %(source_mail)s, %(source_reply)s,
            %(source_thread)s, %(trust)s, %(quote)s, %(quote_sha256)s, %(span_start)s, %(span_end)s,
            %(valid_from)s, %(at)s)
),
parents AS (
    INSERT INTO fact_parents (fact_id, parent_id, workspace, participant_id)
    SELECT %(fact_id)s, unnest(%(parents)s::uuid[]), %(workspace)s, %(participant_id)s
)
INSERT INTO fact_log (participant_id, version, workspace, at, decision, fact_id, key, value, reason, cause)
VALUES (%(participant_id)s, %(version)s, %(workspace)s, %(at)s,
        CASE WHEN %(past)s THEN 'recorded as past' ELSE 'recorded' END, %(fact_id)s, %(key)s, %(value)s, %(rule)s,
        %(cause)s);

-- name: end_before
-- What was so when a value that came late began is now known to have ended there.
UPDATE facts SET valid_to = %(valid_from)s, version = %(version)s
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND key = %(key)s AND single_valued
  AND fact_id <> %(fact_id)s AND superseded_at IS NOT NULL AND retracted_at IS NULL
  AND valid_from < %(valid_from)s AND valid_to > %(valid_from)s;

-- name: insert_source
INSERT INTO fact_sources (fact_id, version, workspace, participant_id, mail_id, reply_id, thread_id, trust, quote,
                          quote_sha256, span_start, span_end, said_at, at)
VALUES (%(fact_id)s, %(version)s, %(workspace)s, %(participant_id)s, %(source_mail)s, %(source_reply)s,
        %(source_thread)s, %(trust)s, %(quote)s, %(quote_sha256)s, %(span_start)s, %(span_end)s, %(said_at)s,
        %(at)s);

-- name: corroborate
-- Said once more: surer, perhaps so for longer than we knew, perhaps in so many words for the first time.
UPDATE facts SET confidence = %(confidence)s, version = %(version)s,
    valid_from = least(valid_from, %(valid_from)s),
    trust = CASE WHEN trust = 'inferred' THEN %(trust)s ELSE trust END,
    stale_since = CASE WHEN %(rejudged)s THEN NULL ELSE stale_since END,
    weight = CASE WHEN %(rejudged)s THEN 1 ELSE weight END
WHERE fact_id = %(fact_id)s;

-- name: retract
-- It is so no longer; or, where no end is given, we believe that it never was, also where it had ended or was merged.
UPDATE facts SET superseded_at = coalesce(superseded_at, %(at)s), version = %(version)s,
    valid_to = coalesce(greatest(valid_from, %(valid_to)s), valid_to),
    retracted_at = CASE WHEN %(valid_to)s::timestamptz IS NULL THEN %(at)s::timestamptz ELSE retracted_at END
WHERE fact_id = %(fact_id)s
  AND (superseded_at IS NULL OR (%(valid_to)s::timestamptz IS NULL AND retracted_at IS NULL));

-- name: restore
-- What had replaced it was never so: it is believed as before.
UPDATE facts SET superseded_at = NULL, superseded_by = NULL, valid_to = NULL, version = %(version)s
WHERE fact_id = %(fact_id)s AND retracted_at IS NULL AND merged_into IS NULL;

-- name: mark_stale
-- A weight below 1 marks it; how much it weighs then is a setting of those who read it.
UPDATE facts SET stale_since = %(at)s, weight = 0.5, version = %(version)s WHERE fact_id = %(fact_id)s;

-- name: merge
UPDATE facts SET superseded_at = %(at)s, merged_into = %(fact_id)s, version = %(version)s
WHERE fact_id = ANY(%(member_ids)s) AND superseded_at IS NULL;

-- name: unmerge
-- The members are themselves again, and each is kept apart from the others and from the fact that showed them.
UPDATE facts SET superseded_at = NULL, merged_into = NULL, version = %(version)s,
    apart_from = ARRAY(SELECT DISTINCT one FROM unnest(apart_from || %(fact_id)s || %(member_ids)s) AS one
                       WHERE one <> facts.fact_id ORDER BY one)
WHERE fact_id = ANY(%(member_ids)s) AND merged_into = %(fact_id)s;

-- name: set_confidence
UPDATE facts SET confidence = %(confidence)s, version = %(version)s WHERE fact_id = %(fact_id)s;

-- name: pin
UPDATE facts SET pinned = %(pinned)s, version = %(version)s WHERE fact_id = %(fact_id)s;

-- name: log_fact
INSERT INTO fact_log (participant_id, version, workspace, at, decision, fact_id, key, value, reason, cause)
VALUES (%(participant_id)s, %(version)s, %(workspace)s, %(at)s, %(decision)s, %(fact_id)s, %(key)s, %(value)s,
        %(reason)s, %(cause)s);

-- name: upsert_relation
INSERT INTO relations (relation_id, participant_id, workspace, subject, predicate, object, quote, confidence,
                       source_mail, recorded_at)
VALUES (%(relation_id)s, %(participant_id)s, %(workspace)s, %(subject)s, %(predicate)s, %(object)s, %(quote)s,
        %(confidence)s, %(source_mail)s, %(at)s)
ON CONFLICT (relation_id) DO UPDATE SET quote = excluded.quote, confidence = excluded.confidence,
    source_mail = excluded.source_mail, recorded_at = excluded.recorded_at, deleted_at = NULL;

-- name: delete_relation
UPDATE relations SET deleted_at = %(at)s WHERE relation_id = %(relation_id)s;

-- name: ages
-- Each fact of a participant with what last renewed it: its recording, a mail that says so too, its end.
SELECT f.fact_id, f.pinned,
       greatest(f.recorded_at, f.superseded_at, (SELECT max(s.at) FROM fact_sources s WHERE s.fact_id = f.fact_id))
           AS renewed_at,
       ARRAY(SELECT p.parent_id FROM fact_parents p WHERE p.fact_id = f.fact_id) AS parents
FROM facts f WHERE f.workspace = %(workspace)s AND f.participant_id = %(participant_id)s;

-- name: old_relations
SELECT relation_id FROM relations
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND recorded_at < %(before)s
ORDER BY relation_id;

-- name: old_refusals
-- Whether there are decisions from before a moment that are about no fact.
SELECT EXISTS (SELECT FROM fact_log
               WHERE participant_id = %(participant_id)s AND fact_id IS NULL AND at < %(before)s) AS there;

-- name: drop_sources
DELETE FROM fact_sources WHERE fact_id = ANY(%(facts)s);

-- name: drop_parents
DELETE FROM fact_parents WHERE fact_id = ANY(%(facts)s);

-- name: drop_log
-- Decisions about facts that are gone, and old ones about what never became a fact.
DELETE FROM fact_log
WHERE participant_id = %(participant_id)s
  AND (fact_id = ANY(%(facts)s) OR (fact_id IS NULL AND at < %(before)s));

-- name: drop_facts
DELETE FROM facts WHERE fact_id = ANY(%(facts)s);

-- name: drop_relations
DELETE FROM relations WHERE relation_id = ANY(%(relations)s);
