-- name: upsert_document
INSERT INTO documents (document_id, workspace, title, origin, blob, version, indexed_at)
VALUES (%(document_id)s, %(workspace)s, %(title)s, %(origin)s, %(blob)s, %(version)s, %(at)s)
ON CONFLICT (document_id) DO UPDATE SET title = excluded.title, blob = excluded.blob, version = excluded.version,
    indexed_at = excluded.indexed_at;

-- name: drop_chunks
-- The passages of older versions can no longer be found.
DELETE FROM chunks WHERE document_id = %(document_id)s;

-- name: insert_chunk
INSERT INTO chunks (chunk_id, document_id, workspace, version, position, heading, text)
VALUES (%(chunk_id)s, %(document_id)s, %(workspace)s, %(version)s, %(position)s, %(heading)s, %(text)s);

-- name: document
SELECT blob FROM documents WHERE document_id = %(document_id)s;

-- name: attach_vector
UPDATE chunks SET embedding = %(vector)s::halfvec WHERE chunk_id = %(chunk_id)s;
