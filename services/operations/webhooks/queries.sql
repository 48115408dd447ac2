-- name: lock
-- Endpoints are registered one at a time.
LOCK TABLE webhook_endpoints IN SHARE ROW EXCLUSIVE MODE;

-- name: count
-- How many endpoints are in use.
SELECT count(*) AS n FROM webhook_endpoints WHERE workspace = %(workspace)s AND removed_at IS NULL;

-- name: add
INSERT INTO webhook_endpoints (endpoint_id, workspace, url, description, kinds, with_text, secret, created_at, created_by,
                               enabled_at)
VALUES (%(endpoint_id)s, %(workspace)s, %(url)s, %(description)s, %(kinds)s, %(with_text)s, %(secret)s, %(now)s, %(by)s,
        %(now)s);

-- name: change
UPDATE webhook_endpoints SET url = %(url)s, description = %(description)s, kinds = %(kinds)s, with_text = %(with_text)s
WHERE workspace = %(workspace)s AND endpoint_id = %(endpoint_id)s AND removed_at IS NULL RETURNING endpoint_id;

-- name: pause
UPDATE webhook_endpoints SET paused_at = coalesce(paused_at, %(now)s)
WHERE workspace = %(workspace)s AND endpoint_id = %(endpoint_id)s AND removed_at IS NULL RETURNING endpoint_id;

-- name: enable
UPDATE webhook_endpoints SET paused_at = NULL, enabled_at = %(now)s
WHERE workspace = %(workspace)s AND endpoint_id = %(endpoint_id)s AND removed_at IS NULL RETURNING endpoint_id;

-- name: rotate
UPDATE webhook_endpoints SET former_secret = secret, former_until = %(until)s, secret = %(secret)s
WHERE workspace = %(workspace)s AND endpoint_id = %(endpoint_id)s AND removed_at IS NULL RETURNING endpoint_id;

-- name: remove
UPDATE webhook_endpoints SET removed_at = %(now)s, secret = NULL, former_secret = NULL, former_until = NULL
WHERE workspace = %(workspace)s AND endpoint_id = %(endpoint_id)s AND removed_at IS NULL;

-- name: endpoints
-- Endpoints with how telling them goes, the oldest first.
SELECT e.endpoint_id, e.url, e.description, e.kinds, e.with_text, e.created_at, e.created_by, e.enabled_at, e.paused_at,
       e.former_until, h.failing_since, h.delivered_at, h.disabled_at, coalesce(h.reason, '') AS disabled_why,
       (SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint_id = e.endpoint_id AND d.state = 'waiting') AS waiting
FROM webhook_endpoints e LEFT JOIN webhook_health h USING (endpoint_id)
WHERE e.workspace = %(workspace)s AND e.removed_at IS NULL
  AND (%(endpoint_id)s::uuid IS NULL OR e.endpoint_id = %(endpoint_id)s)
ORDER BY e.created_at, e.endpoint_id;

-- name: deliveries
-- What an endpoint was told, the newest first, with how it answered last.
SELECT d.webhook_id, d.endpoint_id, d.event_id, d.kind, d.thread_id, d.state, d.attempt, d.status, d.detail, d.queued_at,
       d.changed_at, CASE WHEN d.state = 'waiting' THEN d.due_at END AS due_at, coalesce(a.answer, '') AS answer, d.version
FROM webhook_deliveries d LEFT JOIN webhook_answers a USING (webhook_id)
WHERE d.workspace = %(workspace)s AND d.endpoint_id = %(endpoint_id)s AND d.version < %(after_version)s
ORDER BY d.version DESC LIMIT %(limit)s;

-- name: delivery
-- One webhook of an endpoint.
SELECT d.webhook_id, d.endpoint_id, d.event_id, d.kind, d.thread_id, d.state, d.attempt, d.status, d.detail, d.queued_at,
       d.changed_at, CASE WHEN d.state = 'waiting' THEN d.due_at END AS due_at, coalesce(a.answer, '') AS answer, d.version
FROM webhook_deliveries d LEFT JOIN webhook_answers a USING (webhook_id)
WHERE d.workspace = %(workspace)s AND d.endpoint_id = %(endpoint_id)s AND d.webhook_id = %(webhook_id)s;
