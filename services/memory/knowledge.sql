-- name: current
-- Every passage of a workspace that can be found now; a document is a stream of passages.
SELECT chunk_id AS id, document_id AS stream, position, '' AS speaker, text, tsv,
       CASE WHEN embedding_model = %(model)s THEN embedding END AS embedding, NULL::timestamptz AS at
FROM chunks WHERE workspace = %(workspace)s AND retired_at IS NULL

-- name: as_of
-- Every passage of a workspace that could be found at a time.
SELECT chunk_id AS id, document_id AS stream, position, '' AS speaker, text, tsv,
       CASE WHEN embedding_model = %(model)s THEN embedding END AS embedding, NULL::timestamptz AS at
FROM chunks WHERE workspace = %(workspace)s AND added_at <= %(as_of)s AND (retired_at IS NULL OR retired_at > %(as_of)s)

-- name: chunks_by_id
SELECT c.chunk_id, c.document_id, c.edition, d.title, c.heading, c.text, d.origin,
       CASE WHEN d.removed_at IS NULL THEN d.public_url ELSE '' END AS public_url, d.sendable AND d.removed_at IS NULL AS sendable
FROM chunks c JOIN documents d USING (document_id)
WHERE c.workspace = %(workspace)s AND c.chunk_id = ANY(%(ids)s)
