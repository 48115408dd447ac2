-- name: participant
SELECT * FROM participants WHERE participant_id = %(participant_id)s;

-- name: facts
-- What is believed now.
SELECT fact_id, kind, key, value, trust, valid_from, single_valued FROM facts
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND superseded_at IS NULL
ORDER BY recorded_at, fact_id;

-- name: sources
SELECT fact_id, trust, mail_id, thread_id FROM fact_sources WHERE fact_id = ANY(%(fact_ids)s) ORDER BY version;

-- name: issues
SELECT issue_key, reports, resolved, thread_id FROM participant_issues WHERE participant_id = %(participant_id)s;

-- name: mails
-- The mails that a proposal may cite: of this participant, newest first.
SELECT mail_id, thread_id, message_id, text, received_at, sent_at, mode, trusted FROM mails
WHERE mail_id = ANY(%(mail_ids)s) AND participant_id = %(participant_id)s ORDER BY received_at DESC, mail_id;

-- name: upsert_participant
INSERT INTO participants (participant_id, workspace, addr, name, state, first_seen_at, last_seen_at)
VALUES (%(participant_id)s, %(workspace)s, %(addr)s, %(name)s, 'unknown', %(at)s, %(at)s)
ON CONFLICT (participant_id) DO UPDATE SET name = coalesce(nullif(excluded.name, ''), participants.name),
    last_seen_at = greatest(participants.last_seen_at, excluded.last_seen_at);

-- name: set_state
UPDATE participants SET state = %(to_state)s WHERE participant_id = %(participant_id)s;

-- name: log_transition
INSERT INTO participant_log (participant_id, version, workspace, at, from_state, to_state, trigger, reason, refused,
                             cause)
VALUES (%(participant_id)s, %(version)s, %(workspace)s, %(at)s, %(from_state)s, %(to_state)s, %(trigger)s, %(reason)s,
        %(refused_because)s, %(cause)s);

-- name: set_signals
UPDATE participants SET sentiment = %(sentiment)s, frustrated_in_row = %(frustrated_in_row)s, risk = %(risk)s,
    tags = %(tag_list)s
WHERE participant_id = %(participant_id)s;

-- name: upsert_issue
INSERT INTO participant_issues (participant_id, issue_key, workspace, reports, resolved, thread_id, first_at, last_at)
VALUES (%(participant_id)s, %(issue_key)s, %(workspace)s, %(issue_repeats)s, %(issue_resolved)s, %(thread_id)s, %(at)s,
        %(at)s)
ON CONFLICT (participant_id, issue_key) DO UPDATE SET reports = excluded.reports, resolved = excluded.resolved,
    thread_id = excluded.thread_id, last_at = excluded.last_at;

-- name: resolve_issues
-- The trouble of this thread is over.
UPDATE participant_issues SET resolved = true, last_at = %(at)s
WHERE participant_id = %(participant_id)s AND thread_id = %(thread_id)s AND NOT resolved;

-- name: upsert_brief
INSERT INTO briefs (participant_id, workspace, text, updated_at)
VALUES (%(participant_id)s, %(workspace)s, %(text)s, %(at)s)
ON CONFLICT (participant_id) DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at;

-- name: upsert_session
INSERT INTO sessions (participant_id, workspace, thread_id, summary, updated_at, expires_at)
VALUES (%(participant_id)s, %(workspace)s, %(thread_id)s, %(summary)s, %(at)s, %(expires_at)s)
ON CONFLICT (participant_id) DO UPDATE SET thread_id = excluded.thread_id, summary = excluded.summary,
    updated_at = excluded.updated_at, expires_at = excluded.expires_at;

-- name: supersede
-- The rows end: what was believed until now, and when it was so.
UPDATE facts SET superseded_at = %(at)s, superseded_by = %(fact_id)s, version = %(version)s,
    valid_to = coalesce(valid_to, greatest(valid_from, %(valid_from)s))
WHERE fact_id = ANY(%(supersedes)s);

-- name: insert_fact
INSERT INTO facts (fact_id, workspace, participant_id, kind, key, value, text, single_valued, confidence, importance,
                   trust, valid_from, valid_to, expires_at, recorded_at, source_event_id, source_message_id, quote,
                   quote_sha256, span_start, span_end, version)
VALUES (%(fact_id)s, %(workspace)s, %(participant_id)s, %(kind)s, %(key)s, %(value)s, %(text)s, %(single_valued)s,
        %(confidence)s, %(importance)s, %(trust)s, %(valid_from)s, %(valid_to)s, %(expires_at)s, %(at)s, %(event_id)s,
        nullif(%(source_message_id)s, ''), nullif(%(quote)s, ''), %(quote_sha256)s, %(span_start)s, %(span_end)s,
        %(version)s);

-- name: insert_source
INSERT INTO fact_sources (fact_id, version, workspace, participant_id, mail_id, thread_id, trust, quote, at)
VALUES (%(fact_id)s, %(version)s, %(workspace)s, %(participant_id)s, %(source_mail)s, %(source_thread)s, %(trust)s,
        %(quote)s, %(at)s);

-- name: set_confidence
UPDATE facts SET confidence = %(confidence)s, version = %(version)s WHERE fact_id = %(fact_id)s;

-- name: retract
UPDATE facts SET superseded_at = %(at)s, retracted_at = %(at)s, version = %(version)s
WHERE fact_id = %(fact_id)s AND superseded_at IS NULL;

-- name: pin
UPDATE facts SET pinned = %(pinned)s, version = %(version)s WHERE fact_id = %(fact_id)s;

-- name: log_fact
INSERT INTO fact_log (participant_id, version, workspace, at, decision, fact_id, key, reason, cause)
VALUES (%(participant_id)s, %(version)s, %(workspace)s, %(at)s, %(decision)s, %(fact_id)s, %(key)s, %(reason)s,
        %(cause)s);

-- name: upsert_relation
INSERT INTO relations (relation_id, participant_id, workspace, subject, predicate, object, quote, confidence,
                       source_mail, recorded_at)
VALUES (%(relation_id)s, %(participant_id)s, %(workspace)s, %(subject)s, %(predicate)s, %(object)s, %(quote)s,
        %(confidence)s, %(source_mail)s, %(at)s)
ON CONFLICT (relation_id) DO UPDATE SET quote = excluded.quote, confidence = excluded.confidence,
    source_mail = excluded.source_mail, recorded_at = excluded.recorded_at, deleted_at = NULL;

-- name: delete_relation
UPDATE relations SET deleted_at = %(at)s WHERE relation_id = %(relation_id)s;
