-- name: document
-- What there is of a document, and its version; none where it was never heard of.
SELECT a.version, d.blob, d.public_url, d.sendable, d.removed_at
FROM aggregates a LEFT JOIN documents d ON d.workspace = a.workspace AND d.document_id = a.id
WHERE a.workspace = %(workspace)s AND a.kind = 'document' AND a.id = %(document_id)s;

-- name: unfinished
-- How many of these requests, and of what was decided because of them, learn_documents has not done yet.
SELECT count(*) AS n FROM events e
WHERE (e.id = ANY(%(ids)s) OR e.causation_id = ANY(%(ids)s)) AND e.topic = 'document-events'
  AND has_to_do('learn_documents', e.type, %(skipped)s::text[])
  AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.consumer = 'learn_documents' AND j.event_id = e.id
                  AND j.event_day = (e.time AT TIME ZONE 'UTC')::date);

-- name: became
-- What was decided because of these requests, in the order of the versions.
SELECT cause, document_id, decision, title, origin, detail FROM document_log
WHERE workspace = %(workspace)s AND cause = ANY(%(ids)s) ORDER BY document_id, version;

-- name: documents
-- Every document, the removed ones where they are asked for, with how often its passages were cited.
SELECT d.document_id, d.space, d.title, d.origin, d.media_type, d.edition, d.public_url, d.note, d.indexed_at, d.removed_at,
       (SELECT count(*) FROM chunks c WHERE c.document_id = d.document_id AND c.retired_at IS NULL) AS chunks,
       (SELECT count(DISTINCT q.reply_id) FROM citations q WHERE q.document_id = d.document_id) AS cited,
       (SELECT max(q.at) FROM citations q WHERE q.document_id = d.document_id) AS last_cited_at
FROM documents d
WHERE d.workspace = %(workspace)s AND (%(document_id)s::uuid IS NULL OR d.document_id = %(document_id)s)
  AND (%(removed)s OR d.removed_at IS NULL)
  AND (d.title, d.document_id) > (%(after_title)s, %(after_document_id)s::uuid)
ORDER BY d.title, d.document_id LIMIT %(limit)s;

-- name: unread
-- What was handed in, could not be read, and has no edition that can be found.
SELECT l.document_id, l.title, l.origin, l.detail AS reason, l.at
FROM document_log l
WHERE l.workspace = %(workspace)s AND l.decision = 'refused' AND l.origin <> ''
  AND l.document_id > %(after_document_id)s::uuid
  AND NOT EXISTS (SELECT FROM documents d WHERE d.document_id = l.document_id)
  AND NOT EXISTS (SELECT FROM document_log n WHERE n.document_id = l.document_id AND n.version > l.version
                  AND n.decision = 'refused' AND n.origin <> '')
ORDER BY l.document_id LIMIT %(limit)s;

-- name: passages
-- The passages of a document, the current edition first, and in how many replies each is cited.
SELECT c.chunk_id, c.edition, c.position, c.heading, c.text, c.added_at, c.retired_at, count(q.reply_id) AS cited
FROM chunks c LEFT JOIN citations q USING (chunk_id)
WHERE c.workspace = %(workspace)s AND c.document_id = %(document_id)s AND (%(past)s OR c.retired_at IS NULL)
GROUP BY c.chunk_id ORDER BY c.edition DESC, c.position;

-- name: log
SELECT version, at, decision, detail, by FROM document_log
WHERE workspace = %(workspace)s AND document_id = %(document_id)s ORDER BY version;

-- name: cited_in
-- Where a document was cited, the latest first.
SELECT q.at, q.thread_id, q.reply_id, q.chunk_id, c.edition, c.heading
FROM citations q JOIN chunks c USING (chunk_id)
WHERE q.workspace = %(workspace)s AND q.document_id = %(document_id)s
ORDER BY q.at DESC, q.reply_id, c.position LIMIT %(limit)s;

-- name: sources_of_replies
-- What some replies rest on.
SELECT q.reply_id, d.title, c.heading, c.edition, d.public_url, c.chunk_id, left(c.text, 600) AS quote
FROM citations q JOIN chunks c USING (chunk_id) JOIN documents d ON d.document_id = c.document_id
WHERE q.workspace = %(workspace)s AND q.reply_id = ANY(%(reply_ids)s) ORDER BY q.reply_id, d.title, c.position;

-- name: passages_of_drafts
-- The passages that some drafts cite; each pair is of a reply and a passage.
SELECT q.reply_id, d.title, c.heading, c.edition, d.public_url, c.chunk_id, left(c.text, 600) AS quote
FROM unnest(%(reply_ids)s::uuid[], %(chunk_ids)s::uuid[]) AS q (reply_id, chunk_id)
JOIN chunks c USING (chunk_id) JOIN documents d ON d.document_id = c.document_id
WHERE c.workspace = %(workspace)s ORDER BY q.reply_id, d.title, c.position;

-- name: proposals
-- Proposed articles in a state, the oldest first.
SELECT document_id, title, text, thread_id, reply_id, source, masked, state, proposed_at, decided_at FROM proposals
WHERE workspace = %(workspace)s AND (%(state)s = '' OR state = %(state)s)
  AND (%(document_id)s::uuid IS NULL OR document_id = %(document_id)s)
  AND (proposed_at, document_id) > (%(after_proposed_at)s::timestamptz, %(after_document_id)s::uuid)
ORDER BY proposed_at, document_id LIMIT %(limit)s;

-- name: last_answer
-- The latest answer in a thread.
SELECT reply_id FROM conversation
WHERE workspace = %(workspace)s AND thread_id = %(thread_id)s AND reply_id IS NOT NULL ORDER BY version DESC LIMIT 1;
