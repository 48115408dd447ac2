-- name: by_rule
-- What came of mail that we began, by inbox and rule.
SELECT o.inbox, o.rule, count(*)::int AS proposed, count(*) FILTER (WHERE o.state = 'proposed')::int AS waiting,
       count(*) FILTER (WHERE o.state IN ('refused', 'discarded', 'failed'))::int AS not_sent,
       count(*) FILTER (WHERE o.sent_at IS NOT NULL)::int AS sent,
       count(*) FILTER (WHERE o.state = 'answered')::int AS answered,
       count(*) FILTER (WHERE o.state = 'bounced')::int AS bounced,
       count(u.participant_id)::int AS unsubscribed, max(o.proposed_at) AS last_at
FROM outreach o LEFT JOIN unsubscribes u ON u.outreach_id = o.outreach_id
WHERE o.workspace = %(workspace)s AND (%(since)s::timestamptz IS NULL OR o.proposed_at >= %(since)s)
GROUP BY o.inbox, o.rule ORDER BY o.inbox, o.rule;
