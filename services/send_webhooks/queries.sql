-- name: endpoints_for
-- Endpoints that want a public type, in one order everywhere.
SELECT e.endpoint_id, e.url, e.kinds, e.with_text, e.secret, e.former_secret, e.former_until, e.created_at, e.enabled_at,
       e.paused_at, h.failing_since, h.disabled_at
FROM webhook_endpoints e LEFT JOIN webhook_health h USING (endpoint_id)
WHERE e.workspace = %(workspace)s AND e.removed_at IS NULL AND %(kind)s = ANY(e.kinds) ORDER BY e.endpoint_id;

-- name: endpoint
-- One endpoint that was not removed.
SELECT e.endpoint_id, e.url, e.kinds, e.with_text, e.secret, e.former_secret, e.former_until, e.created_at, e.enabled_at,
       e.paused_at, h.failing_since, h.disabled_at
FROM webhook_endpoints e LEFT JOIN webhook_health h USING (endpoint_id)
WHERE e.workspace = %(workspace)s AND e.endpoint_id = %(endpoint_id)s AND e.removed_at IS NULL;

-- name: due
-- What the endpoint is to be told now, in the order in which it happened. One that is not told gets tests alone.
SELECT webhook_id, endpoint_id, event_id, kind, thread_id, attempt, queued_at FROM webhook_deliveries
WHERE endpoint_id = %(endpoint_id)s AND state = 'waiting' AND due_at <= %(now)s AND (%(told)s OR kind = 'webhook.test')
ORDER BY version LIMIT %(most)s;

-- name: next_due
-- When the endpoint is to be told next.
SELECT min(due_at) AS at FROM webhook_deliveries
WHERE endpoint_id = %(endpoint_id)s AND state = 'waiting' AND (%(told)s OR kind = 'webhook.test');

-- name: delivery
-- One webhook.
SELECT state FROM webhook_deliveries WHERE webhook_id = %(webhook_id)s AND endpoint_id = %(endpoint_id)s;

-- name: sending_hold
-- Whether nothing may leave.
SELECT reason FROM sending_holds WHERE workspace = %(workspace)s;

-- name: insert_delivery
INSERT INTO webhook_deliveries (webhook_id, endpoint_id, workspace, event_id, kind, thread_id, queued_at, due_at, changed_at,
                                version)
VALUES (%(webhook_id)s, %(endpoint_id)s, %(workspace)s, %(event_id)s, %(kind)s, %(thread_id)s, %(queued_at)s, %(queued_at)s,
        %(queued_at)s, %(version)s);

-- name: set_waiting
UPDATE webhook_deliveries SET state = 'waiting', attempt = 0, status = 0, detail = '', queued_at = %(queued_at)s,
    due_at = %(queued_at)s, changed_at = %(queued_at)s
WHERE webhook_id = %(webhook_id)s;

-- name: set_delivered
UPDATE webhook_deliveries SET state = 'delivered', attempt = %(attempt)s, status = %(status)s, detail = '',
    changed_at = %(happened_at)s
WHERE webhook_id = %(webhook_id)s;

-- name: set_deferred
UPDATE webhook_deliveries SET attempt = %(attempt)s, status = %(status)s, detail = %(error)s, due_at = %(retry_at)s,
    changed_at = %(happened_at)s
WHERE webhook_id = %(webhook_id)s;

-- name: set_failed
UPDATE webhook_deliveries SET state = 'failed', attempt = %(attempt)s, status = %(status)s, detail = %(error)s,
    changed_at = %(happened_at)s
WHERE webhook_id = %(webhook_id)s;

-- name: fail_waiting
-- What waits for an endpoint that is disabled does not wait any more.
UPDATE webhook_deliveries SET state = 'failed', detail = %(reason)s, changed_at = %(happened_at)s
WHERE endpoint_id = %(endpoint_id)s AND state = 'waiting';

-- name: note_taken
INSERT INTO webhook_health (endpoint_id, workspace, delivered_at) VALUES (%(endpoint_id)s, %(workspace)s, %(happened_at)s)
ON CONFLICT (endpoint_id) DO UPDATE SET failing_since = NULL, delivered_at = excluded.delivered_at;

-- name: note_refused
INSERT INTO webhook_health (endpoint_id, workspace, failing_since) VALUES (%(endpoint_id)s, %(workspace)s, %(happened_at)s)
ON CONFLICT (endpoint_id) DO UPDATE SET failing_since = coalesce(webhook_health.failing_since, excluded.failing_since);

-- name: note_disabled
INSERT INTO webhook_health (endpoint_id, workspace, disabled_at, reason)
VALUES (%(endpoint_id)s, %(workspace)s, %(happened_at)s, %(reason)s)
ON CONFLICT (endpoint_id) DO UPDATE SET failing_since = NULL, disabled_at = excluded.disabled_at, reason = excluded.reason;
