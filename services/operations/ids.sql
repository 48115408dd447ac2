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
