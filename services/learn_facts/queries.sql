-- name: participant
-- With whom they were merged into.
SELECT p.name, p.state, p.standing_at, p.first_seen_at, p.last_seen_at, p.sentiment, p.frustrated_in_row, p.tags,
       a.into_id AS alias_of
FROM participants p LEFT JOIN participant_aliases a USING (participant_id) WHERE p.participant_id = %(participant_id)s;

-- name: others_since
-- Whether the same person has written from another address since this one was seen.
SELECT 1 FROM participants own JOIN participants other ON other.last_seen_at > own.last_seen_at
WHERE own.participant_id = %(participant_id)s AND other.participant_id = ANY(person_ids(own.participant_id)) LIMIT 1;

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

-- name: issues
SELECT issue_key, reports, resolved, thread_id, last_at FROM participant_issues WHERE participant_id = %(participant_id)s
ORDER BY issue_key COLLATE "C";

-- name: brief
SELECT text <> '' AS briefed FROM briefs WHERE participant_id = %(participant_id)s;

-- name: session
SELECT thread_id, summary, entities, actions, expires_at FROM sessions WHERE participant_id = %(participant_id)s;

-- name: mails
-- The mails that a proposal may cite: this participant's of the turn, newest first, then their others of the thread, for
-- what a reflection that did not hold has left unlearned.
SELECT mail_id, thread_id, message_id, text, received_at, sent_at, mode, trusted FROM mails
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND verdict IN ('answer', 'human')
  AND (mail_id = ANY(%(mail_ids)s) OR thread_id = %(thread_id)s)
ORDER BY mail_id = ANY(%(mail_ids)s) DESC, received_at DESC, mail_id LIMIT 50;

-- name: our_words
-- What we wrote in the thread and in those of the turn's mails, newest first; not what answered somebody unproven there.
SELECT thread_id, reply_id, role, text, at FROM conversation c
WHERE role <> 'customer' AND gone_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.reply_id = c.reply_id AND unproven_turn(d.turn_id))
  AND thread_id IN (
    SELECT %(thread_id)s::uuid UNION SELECT thread_id FROM mails
    WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND mail_id = ANY(%(mail_ids)s))
ORDER BY version DESC LIMIT 50;

-- name: our_words_elsewhere
-- What we wrote to this participant in other threads, newest first; not to whom only claimed to be them.
SELECT c.text, c.at FROM threads t JOIN conversation c USING (thread_id)
WHERE t.workspace = %(workspace)s AND t.participant_id = %(participant_id)s AND t.thread_id <> %(thread_id)s
  AND EXISTS (SELECT 1 FROM mails m WHERE m.thread_id = t.thread_id AND m.trusted)
  AND c.role <> 'customer' AND c.gone_at IS NULL
ORDER BY c.at DESC, c.thread_id, c.version LIMIT 100;

-- name: uncounted
-- How many of a turn's mails no earlier turn was learned from (a turn that failed or went to a person leaves them waiting),
-- and whether the thread is over.
SELECT (SELECT count(*) FROM unnest(%(mail_ids)s::uuid[]) AS mail_id WHERE NOT EXISTS (
            SELECT 1 FROM turns t WHERE t.thread_id = %(thread_id)s AND t.turn_id <> %(turn_id)s
            AND mail_id = ANY(t.mail_ids) AND t.outcome <> 'superseded'
            AND t.version < (SELECT version FROM turns WHERE turn_id = %(turn_id)s))) AS mails,
       coalesce((SELECT state IN ('resolved', 'closed') FROM threads WHERE thread_id = %(thread_id)s), false) AS over;

-- name: wrote_in
-- Whether a participant wrote in a thread, proven: a thread is not theirs because somebody opened it in their name.
SELECT 1 AS wrote FROM mails
WHERE thread_id = %(thread_id)s AND participant_id = %(participant_id)s AND trusted LIMIT 1;

-- name: reported_in
-- Who has open trouble that was reported in a thread.
SELECT DISTINCT participant_id FROM participant_issues WHERE thread_id = %(thread_id)s AND NOT resolved
ORDER BY participant_id;

-- name: upsert_participant
-- Seen at a moment of valid time: an imported mail may tell of one before the first that was known.
INSERT INTO participants (participant_id, workspace, addr, name, state, first_seen_at, last_seen_at)
VALUES (%(participant_id)s, %(workspace)s, %(addr)s, %(name)s, 'unknown', %(said)s, %(said)s)
ON CONFLICT (participant_id) DO UPDATE SET name = coalesce(nullif(excluded.name, ''), participants.name),
    first_seen_at = least(participants.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(participants.last_seen_at, excluded.last_seen_at);

-- name: set_state
UPDATE participants SET state = %(to_state)s, standing_at = greatest(standing_at, %(said)s) WHERE participant_id = %(participant_id)s;

-- name: log_transition
INSERT INTO participant_log (participant_id, version, workspace, at, from_state, to_state, trigger, reason, refused,
                             cause)
VALUES (%(participant_id)s, %(version)s, %(workspace)s, %(said)s, %(from_state)s, %(to_state)s, %(trigger)s, %(reason)s,
        %(refused_because)s, %(cause)s);

-- name: set_signals
UPDATE participants SET sentiment = %(sentiment)s, frustrated_in_row = %(frustrated_in_row)s, risk = %(risk)s,
    tags = %(tag_list)s, standing_at = CASE WHEN %(confirms_state)s THEN greatest(standing_at, %(said)s) ELSE standing_at END
WHERE participant_id = %(participant_id)s;

-- name: upsert_issue
-- One more report; one from before the last that is known counts, and changes nothing else.
INSERT INTO participant_issues AS known (participant_id, issue_key, workspace, reports, resolved, thread_id, first_at, last_at)
VALUES (%(participant_id)s, %(issue_key)s, %(workspace)s, %(issue_repeats)s, %(issue_resolved)s, %(thread_id)s,
        %(said)s, %(said)s)
ON CONFLICT (participant_id, issue_key) DO UPDATE SET reports = excluded.reports,
    resolved = CASE WHEN excluded.last_at < known.last_at THEN known.resolved ELSE excluded.resolved END,
    thread_id = CASE WHEN excluded.last_at < known.last_at THEN known.thread_id ELSE excluded.thread_id END,
    first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at);

-- name: resolve_issues
-- The trouble of this thread is over, which is no report of it.
UPDATE participant_issues SET resolved = true
WHERE participant_id = %(participant_id)s AND thread_id = %(thread_id)s AND NOT resolved;

-- name: resolve_issue
-- One trouble is over.
UPDATE participant_issues SET resolved = true WHERE participant_id = %(participant_id)s AND issue_key = %(issue_key)s;

-- name: upsert_brief
INSERT INTO briefs (participant_id, workspace, text, updated_at)
VALUES (%(participant_id)s, %(workspace)s, %(text)s, %(at)s)
ON CONFLICT (participant_id) DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at;

-- name: upsert_session
INSERT INTO sessions (participant_id, workspace, thread_id, summary, entities, actions, updated_at, expires_at)
VALUES (%(participant_id)s, %(workspace)s, %(thread_id)s, %(summary)s, %(entities)s, %(actions)s, %(at)s,
        %(expires_at)s)
ON CONFLICT (participant_id) DO UPDATE SET thread_id = excluded.thread_id, summary = excluded.summary,
    entities = excluded.entities, actions = excluded.actions, updated_at = excluded.updated_at,
    expires_at = excluded.expires_at;

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
    INSERT INTO facts (fact_id, workspace, participant_id, kind, key, value, text, single_valued, confidence,
                       importance, trust, valid_from, valid_to, expires_at, recorded_at, superseded_at, superseded_by,
                       source_event_id, source_message_id, quote, quote_sha256, span_start, span_end, version)
    SELECT %(fact_id)s, %(workspace)s, %(participant_id)s, %(kind)s, %(key)s, %(value)s, %(text)s, %(single_valued)s,
           %(confidence)s, %(importance)s, %(trust)s, %(valid_from)s, %(valid_to)s, %(expires_at)s, %(at)s,
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
