-- name: participant
-- With whom they were merged into.
SELECT p.name, p.space, p.state, p.standing_at, p.first_seen_at, p.last_seen_at, p.sentiment, p.frustrated_in_row, p.tags,
       a.into_id AS alias_of
FROM participants p LEFT JOIN participant_aliases a USING (participant_id) WHERE p.participant_id = %(participant_id)s;

-- name: issues
SELECT issue_key, reports, resolved, thread_id, last_at FROM participant_issues WHERE participant_id = %(participant_id)s
ORDER BY issue_key COLLATE "C";

-- name: brief
-- With what is to be merged into it, oldest first.
SELECT b.text, ARRAY(SELECT d.text FROM brief_divergences d WHERE d.participant_id = b.participant_id
                     ORDER BY d.version) AS beside
FROM briefs b WHERE b.participant_id = %(participant_id)s;

-- name: session
SELECT thread_id, summary, entities, actions, expires_at FROM sessions WHERE participant_id = %(participant_id)s;

-- name: profile
SELECT field, value FROM participant_profile
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s ORDER BY field;

-- name: others_since
-- Whether the same person has written from another address since this one was seen.
SELECT 1 FROM participants own JOIN participants other ON other.last_seen_at > own.last_seen_at
WHERE own.participant_id = %(participant_id)s AND other.participant_id = ANY(person_ids(own.participant_id)) LIMIT 1;

-- name: reported_in
-- Who has open trouble that was reported in a thread.
SELECT DISTINCT participant_id FROM participant_issues WHERE thread_id = %(thread_id)s AND NOT resolved
ORDER BY participant_id;

-- name: upsert_participant
-- Seen at a moment of valid time: an imported mail may tell of one before the first that was known.
INSERT INTO participants (participant_id, workspace, space, addr, name, state, first_seen_at, last_seen_at)
VALUES (%(participant_id)s, %(workspace)s, %(space)s, %(addr)s, %(name)s, 'unknown', %(said)s, %(said)s)
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
UPDATE participants SET sentiment = %(sentiment)s, sentiment_before = coalesce(%(sentiment_before)s, sentiment_before),
    frustrated_in_row = %(frustrated_in_row)s, risk = %(risk)s,
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
INSERT INTO briefs (participant_id, workspace, text, bases, by, updated_at)
VALUES (%(participant_id)s, %(workspace)s, %(text)s, %(bases)s, %(by)s, %(at)s)
ON CONFLICT (participant_id) DO UPDATE SET text = excluded.text, bases = excluded.bases, by = excluded.by,
    updated_at = excluded.updated_at;

-- name: drop_divergences
DELETE FROM brief_divergences
WHERE participant_id = %(participant_id)s AND NOT brief_version(text) = ANY(%(keeps)s);

-- name: insert_divergence
INSERT INTO brief_divergences (participant_id, version, workspace, text, bases, updated_at)
VALUES (%(participant_id)s, %(version)s, %(workspace)s, %(text)s, %(bases)s, %(at)s);

-- name: old_brief
-- The brief, where nothing has renewed it since a moment, and what has been written beside it since, the newest first.
SELECT ARRAY(SELECT d.text FROM brief_divergences d
             WHERE d.participant_id = b.participant_id AND d.updated_at >= %(before)s ORDER BY d.version DESC) AS newer
FROM briefs b WHERE b.participant_id = %(participant_id)s AND b.text <> '' AND b.updated_at < %(before)s;

-- name: upsert_session
INSERT INTO sessions (participant_id, workspace, thread_id, summary, entities, actions, updated_at, expires_at)
VALUES (%(participant_id)s, %(workspace)s, %(thread_id)s, %(summary)s, %(entities)s, %(actions)s, %(at)s,
        %(expires_at)s)
ON CONFLICT (participant_id) DO UPDATE SET thread_id = excluded.thread_id, summary = excluded.summary,
    entities = excluded.entities, actions = excluded.actions, updated_at = excluded.updated_at,
    expires_at = excluded.expires_at;

-- name: set_fields
INSERT INTO participant_profile (participant_id, field, workspace, value, by, reason, at, cause)
SELECT %(participant_id)s, one.key, %(workspace)s, one.value, %(by)s, %(reason)s, %(at)s, %(cause)s
FROM jsonb_each_text(%(fields)s) AS one
ON CONFLICT (workspace, participant_id, field) DO UPDATE SET value = excluded.value, by = excluded.by,
    reason = excluded.reason, at = excluded.at, cause = excluded.cause;

-- name: remove_fields
DELETE FROM participant_profile
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND field = ANY(%(removed)s);
