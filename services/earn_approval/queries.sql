-- name: draft
-- Of which intent a draft was; nothing where none is counted (send_email's own rows).
SELECT inbox, intent FROM deliveries WHERE reply_id = %(reply_id)s AND intent <> '' AND inbox <> '';

-- name: last_reply
-- The agent's last reply in a thread until a moment.
SELECT d.reply_id, d.inbox, d.intent FROM deliveries d JOIN turns u USING (turn_id)
WHERE d.thread_id = %(thread_id)s AND d.sent_at <= %(at)s AND d.intent <> '' AND u.by = ''
ORDER BY d.sent_at DESC, d.reply_id LIMIT 1;

-- name: reopened
-- The reply that was the last one before a turn, where it was the agent's, and the thread was resolved after it and is so no more.
SELECT r.reply_id, r.inbox, r.intent FROM (
    SELECT d.reply_id, d.inbox, d.intent, d.sent_at, u.by FROM deliveries d JOIN turns u USING (turn_id)
    WHERE d.thread_id = %(thread_id)s AND d.turn_id <> %(turn_id)s AND d.sent_at <= %(at)s
    ORDER BY d.sent_at DESC, d.reply_id LIMIT 1) r
WHERE r.intent <> '' AND r.by = '' AND EXISTS (
    SELECT FROM thread_log l WHERE l.thread_id = %(thread_id)s AND l.from_state = 'resolved' AND l.to_state <> 'closed'
    AND l.refused = '' AND l.at >= r.sent_at AND l.at <= %(at)s);

-- name: approval
SELECT is_open, counted_from FROM approvals WHERE approval_id = %(approval_id)s;

-- name: counted
SELECT reply_id FROM approval_outcomes
WHERE approval_id = %(approval_id)s AND reply_id = %(reply_id)s AND outcome = %(outcome)s;

-- name: recipient
-- To whom a draft was (send_email's own rows).
SELECT recipient FROM deliveries WHERE reply_id = %(reply_id)s;

-- name: decisions
-- The last decisions that count, the newest first, and to whom each draft was: what was decided before it was closed last
-- counts no more.
SELECT o.at, o.reply_id, o.outcome, d.recipient FROM approval_outcomes o JOIN approvals a USING (approval_id)
LEFT JOIN deliveries d ON d.reply_id = o.reply_id
WHERE o.approval_id = %(approval_id)s AND o.outcome <> 'held' AND (a.counted_from IS NULL OR o.at >= a.counted_from)
ORDER BY o.at DESC, o.reply_id DESC, o.outcome LIMIT %(over)s;

-- name: know
INSERT INTO approvals (approval_id, workspace, inbox, intent)
VALUES (%(approval_id)s, %(workspace)s, %(inbox)s, %(intent)s) ON CONFLICT DO NOTHING;

-- name: insert_outcome
INSERT INTO approval_outcomes (approval_id, reply_id, outcome, workspace, edited, at)
VALUES (%(approval_id)s, %(reply_id)s, %(outcome)s, %(workspace)s, %(edited)s, %(at)s) ON CONFLICT DO NOTHING;

-- name: count_pattern
-- `edited` is the mean share of words that people changed.
INSERT INTO approval_patterns (approval_id, type, workspace, data, occurrences, last_seen)
VALUES (%(approval_id)s, %(outcome)s, %(workspace)s, jsonb_build_object('edited', %(edited)s::float8), 1, %(at)s)
ON CONFLICT (approval_id, type) DO UPDATE SET
    data = jsonb_build_object('edited', round((((approval_patterns.data ->> 'edited')::numeric * approval_patterns.occurrences
               + %(edited)s::numeric) / (approval_patterns.occurrences + 1)), 4)),
    occurrences = approval_patterns.occurrences + 1, last_seen = greatest(approval_patterns.last_seen, excluded.last_seen);

-- name: set_open
UPDATE approvals SET is_open = %(is_open)s, changed_at = %(at)s, changed_by = %(by)s, reason = %(reason)s,
    counted_from = CASE WHEN %(is_open)s THEN counted_from ELSE %(at)s END
WHERE approval_id = %(approval_id)s;
