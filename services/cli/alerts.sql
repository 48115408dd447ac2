-- name: channels
-- What waits in each channel, and its newest mail or call.
SELECT c.id AS channel_id,
       (SELECT count(*) FROM alerts a WHERE a.channel_id = c.id AND a.digest_id IS NULL) AS waiting,
       d.state, d.attempt, d.detail, d.grouped_at, d.changed_at, d.retry_at
FROM unnest(%(channels)s::uuid[]) AS c (id)
LEFT JOIN LATERAL (SELECT * FROM alert_digests d WHERE d.channel_id = c.id
                   ORDER BY d.grouped_at DESC, d.digest_id DESC LIMIT 1) d ON true;

-- name: returned
-- Alerts of the last 7 days that came back.
SELECT count(*) AS count FROM mails
WHERE workspace = %(workspace)s AND filter = 'alert_returned' AND received_at > %(now)s - interval '7 days';

-- name: told
-- The newest alerts, each with what became of it.
SELECT a.alert_id, a.channel_id, a.thread_id, a.kind, a.raised_at, coalesce(t.subject, '') AS subject,
       coalesce(d.state, 'waits') AS state, d.attempt, d.detail, d.changed_at
FROM alerts a LEFT JOIN alert_digests d USING (digest_id) LEFT JOIN threads t ON t.thread_id = a.thread_id
WHERE a.workspace = %(workspace)s AND (a.raised_at, a.alert_id) < (%(after_raised_at)s::timestamptz, %(after_alert_id)s::uuid)
ORDER BY a.raised_at DESC, a.alert_id DESC LIMIT %(limit)s;
