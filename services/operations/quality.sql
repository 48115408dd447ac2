-- What people made of the agent's drafts and replies: counted by week (of UTC, from Monday), inbox, intent and
-- model; of nobody by name.

-- name: outcomes
-- `changed` adds up the shares of words that people changed.
SELECT date_trunc('week', o.at AT TIME ZONE 'UTC')::date AS week, a.inbox, a.intent, coalesce(d.model, '') AS model,
       o.outcome, count(*) AS times, sum(o.edited)::float8 AS changed
FROM approvals a JOIN approval_outcomes o USING (approval_id) LEFT JOIN deliveries d ON d.reply_id = o.reply_id
WHERE a.workspace = %(workspace)s AND o.at >= %(since)s
GROUP BY week, a.inbox, a.intent, d.model, o.outcome;

-- name: sent
-- The agent's replies that left; those that a person wrote are not its own.
SELECT date_trunc('week', d.sent_at AT TIME ZONE 'UTC')::date AS week, d.inbox, d.intent, d.model,
       'sent' AS outcome, count(*) AS times, 0::float8 AS changed
FROM deliveries d JOIN turns u USING (turn_id)
WHERE d.workspace = %(workspace)s AND d.changed_at >= %(since)s AND d.sent_at >= %(since)s AND d.intent <> '' AND u.by = ''
GROUP BY week, d.inbox, d.intent, d.model;

-- name: ratings
-- What customers said of answers; an answer that a person wrote has no intent.
SELECT date_trunc('week', r.rated_at AT TIME ZONE 'UTC')::date AS week, r.inbox, coalesce(d.intent, '') AS intent,
       coalesce(d.model, '') AS model, CASE WHEN r.good THEN 'good' ELSE 'bad' END AS outcome, count(*) AS times, 0::float8 AS changed
FROM reply_ratings r LEFT JOIN deliveries d USING (reply_id)
WHERE r.workspace = %(workspace)s AND r.rated_at >= %(since)s
GROUP BY week, r.inbox, d.intent, d.model, r.good;

-- name: thumbs
-- What people in the team thought of replies that left.
SELECT date_trunc('week', at AT TIME ZONE 'UTC')::date AS week, inbox, intent, model,
       CASE WHEN good THEN 'liked' ELSE 'disliked' END AS outcome, count(*) AS times, 0::float8 AS changed
FROM reply_thumbs WHERE workspace = %(workspace)s AND at >= %(since)s
GROUP BY week, inbox, intent, model, good;

-- name: reasons
-- Why replies were not good, the most frequent reason first.
SELECT reason, count(*) AS times FROM reply_thumbs
WHERE workspace = %(workspace)s AND at >= %(since)s AND NOT good GROUP BY reason ORDER BY times DESC, reason;

-- name: comments
-- What they wrote beside it, the newest first.
SELECT thread_id, inbox, good, comment, rated_at FROM reply_ratings
WHERE workspace = %(workspace)s AND rated_at >= %(since)s AND comment <> ''
ORDER BY rated_at DESC, turn_id DESC LIMIT %(limit)s;
