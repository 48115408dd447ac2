-- name: threads
-- Threads whose id begins so.
SELECT thread_id AS id FROM threads
WHERE workspace = %(workspace)s AND thread_id BETWEEN %(least)s AND %(most)s
  AND starts_with(thread_id::text, %(beginning)s) LIMIT 2;

-- name: replies
-- Replies whose id begins so.
SELECT reply_id AS id FROM deliveries
WHERE workspace = %(workspace)s AND reply_id BETWEEN %(least)s AND %(most)s
  AND starts_with(reply_id::text, %(beginning)s) LIMIT 2;

-- name: documents
-- Documents whose id begins so, removed ones included.
SELECT document_id AS id FROM documents
WHERE workspace = %(workspace)s AND document_id BETWEEN %(least)s AND %(most)s
  AND starts_with(document_id::text, %(beginning)s) LIMIT 2;

-- name: articles
-- Proposed articles whose id begins so.
SELECT document_id AS id FROM proposals
WHERE workspace = %(workspace)s AND document_id BETWEEN %(least)s AND %(most)s
  AND starts_with(document_id::text, %(beginning)s) LIMIT 2;

-- name: incidents
-- Incidents whose id begins so.
SELECT incident_id AS id FROM incidents
WHERE workspace = %(workspace)s AND incident_id BETWEEN %(least)s AND %(most)s
  AND starts_with(incident_id::text, %(beginning)s) LIMIT 2;

-- name: endpoints
-- Endpoints in use whose id begins so.
SELECT endpoint_id AS id FROM webhook_endpoints
WHERE workspace = %(workspace)s AND endpoint_id BETWEEN %(least)s AND %(most)s AND removed_at IS NULL
  AND starts_with(endpoint_id::text, %(beginning)s) LIMIT 2;

-- name: webhooks
-- Webhooks whose id begins so.
SELECT webhook_id AS id FROM webhook_deliveries
WHERE workspace = %(workspace)s AND webhook_id BETWEEN %(least)s AND %(most)s
  AND starts_with(webhook_id::text, %(beginning)s) LIMIT 2;

-- name: investigations
-- Investigations whose id begins so.
SELECT investigation_id AS id FROM investigations
WHERE workspace = %(workspace)s AND investigation_id BETWEEN %(least)s AND %(most)s
  AND starts_with(investigation_id::text, %(beginning)s) LIMIT 2;

-- name: proposals
-- What investigations propose, whose id begins so.
SELECT proposal_id AS id FROM investigation_proposals
WHERE workspace = %(workspace)s AND proposal_id BETWEEN %(least)s AND %(most)s
  AND starts_with(proposal_id::text, %(beginning)s) LIMIT 2;
