-- name: upsert_document
-- The current edition; the first one is 1.
INSERT INTO documents (document_id, workspace, space, title, origin, blob, media_type, public_url, sendable, note, version,
                       indexed_at)
VALUES (%(document_id)s, %(workspace)s, %(space)s, %(title)s, %(origin)s, %(blob)s, %(media_type)s, %(public_url)s, %(sendable)s, %(note)s,
        %(version)s, %(at)s)
ON CONFLICT (document_id) DO UPDATE SET title = excluded.title, blob = excluded.blob, version = excluded.version,
    media_type = excluded.media_type, public_url = excluded.public_url, sendable = excluded.sendable, note = excluded.note,
    edition = documents.edition + 1, indexed_at = excluded.indexed_at, removed_at = NULL;

-- name: retire_chunks
-- The passages of older editions can no longer be found; they answer for their time.
UPDATE chunks SET retired_at = %(at)s WHERE document_id = %(document_id)s AND retired_at IS NULL;

-- name: insert_chunk
-- An id that stood before is of a history in which equal content had equal ids: the passage is found again.
INSERT INTO chunks (chunk_id, document_id, workspace, version, position, heading, text, added_at, edition)
SELECT %(chunk_id)s, %(document_id)s, %(workspace)s, %(version)s, %(position)s, %(heading)s, %(text)s, %(at)s, edition
FROM documents WHERE document_id = %(document_id)s
ON CONFLICT (chunk_id) DO UPDATE SET version = excluded.version, position = excluded.position,
    edition = excluded.edition, added_at = excluded.added_at, retired_at = NULL;

-- name: remove_document
UPDATE documents SET removed_at = %(at)s, version = %(version)s WHERE document_id = %(document_id)s;

-- name: log_decision
INSERT INTO document_log (document_id, version, workspace, at, decision, title, origin, detail, by, cause)
VALUES (%(document_id)s, %(version)s, %(workspace)s, %(at)s, %(decision)s, %(title)s, %(origin)s, %(detail)s, %(by)s,
        %(cause)s);

-- name: insert_citation
INSERT INTO citations (reply_id, chunk_id, document_id, workspace, thread_id, at)
VALUES (%(reply_id)s, %(chunk_id)s, %(document_id)s, %(workspace)s, %(thread_id)s, %(at)s);

-- name: insert_proposal
INSERT INTO proposals (document_id, workspace, title, text, thread_id, reply_id, source, masked, state, proposed_at)
VALUES (%(document_id)s, %(workspace)s, %(title)s, %(text)s, %(thread_id)s, %(reply_id)s, %(source)s, %(masked)s,
        'proposed', %(at)s);

-- name: decide_proposal
UPDATE proposals SET state = %(state)s, decided_at = %(at)s
WHERE document_id = %(document_id)s AND state = 'proposed';

-- name: document
SELECT title, origin, blob, public_url, sendable, removed_at FROM documents WHERE document_id = %(document_id)s;

-- name: proposal
-- With the space that its thread is of.
SELECT title, text, thread_id, reply_id, state,
       coalesce((SELECT m.space FROM mails m WHERE m.thread_id = proposals.thread_id ORDER BY m.received_at LIMIT 1), '') AS space
FROM proposals WHERE document_id = %(document_id)s;

-- name: documents_of_chunks
-- Which documents some passages are of.
SELECT chunk_id, document_id FROM chunks WHERE chunk_id = ANY(%(chunk_ids)s) ORDER BY document_id, position;

-- name: attach_vector
UPDATE chunks SET embedding = %(vector)s, embedding_model = %(model)s WHERE chunk_id = %(chunk_id)s;

-- name: drafts_of_thread
-- What a model drafted in a thread, the latest first.
SELECT * FROM events WHERE key = %(thread_id)s::text AND type = 'reply.drafted.v1' ORDER BY seq DESC;

-- name: mail
SELECT mode FROM mails WHERE mail_id = %(mail_id)s;

-- name: thread_of_article
-- The thread, if anybody proven wrote in it: nobody else's words become an article.
SELECT subject, participant_id, inbox FROM threads t
WHERE thread_id = %(thread_id)s AND EXISTS (SELECT 1 FROM mails m WHERE m.thread_id = t.thread_id AND m.trusted);

-- name: conversation
-- What was said in a thread up to and with an answer, oldest first; nothing that nobody proven wrote.
SELECT role, text FROM conversation c
WHERE thread_id = %(thread_id)s AND gone_at IS NULL
  AND (role <> 'customer' OR EXISTS (SELECT 1 FROM mails m WHERE m.mail_id = c.mail_id AND m.trusted))
  AND version <= (
    SELECT max(version) FROM conversation WHERE thread_id = c.thread_id AND reply_id = %(reply_id)s)
ORDER BY version;

-- name: writers
-- Who wrote the mails of a thread, colleagues too.
SELECT DISTINCT author_name, author_addr FROM mails WHERE thread_id = %(thread_id)s;

-- name: known_of
-- What is remembered of a person that would tell who they are.
SELECT DISTINCT value FROM facts
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND (
    kind IN ('identity', 'contact_info', 'order_info', 'relationship') OR key ~ '(name|company|employer|order|invoice)');
