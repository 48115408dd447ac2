-- name: sources
-- What each fact of a participant rests on, and whether that is another mailbox's: its mail, or our words in its thread.
SELECT s.fact_id, s.mail_id, s.reply_id, s.thread_id, s.trust, s.quote, s.span_start, s.span_end, s.said_at,
       coalesce(m.message_id, '') AS message_id,
       coalesce(m.participant_id = %(into)s, thread_of_one(s.thread_id, %(into)s, %(participant_id)s), false) AS moves
FROM fact_sources s LEFT JOIN mails m ON m.mail_id = s.mail_id
WHERE s.workspace = %(workspace)s AND s.participant_id = %(participant_id)s ORDER BY s.version;

-- name: facts
-- All that is believed or was, and not withdrawn.
SELECT fact_id, kind, key, value, text, single_valued, confidence, importance, trust, valid_from, expires_at,
       superseded_at, merged_into
FROM facts WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND retracted_at IS NULL
ORDER BY recorded_at, fact_id;

-- name: relations
SELECT r.subject, r.predicate, r.object, r.quote, r.confidence, r.source_mail, r.relation_id
FROM relations r JOIN mails m ON m.mail_id = r.source_mail AND m.participant_id = %(into)s
WHERE r.workspace = %(workspace)s AND r.participant_id = %(participant_id)s AND r.deleted_at IS NULL
ORDER BY r.relation_id;

-- name: issues
SELECT issue_key, thread_id FROM participant_issues
WHERE participant_id = %(participant_id)s AND NOT resolved AND thread_of_one(thread_id, %(into)s, %(participant_id)s)
ORDER BY issue_key;
