-- name: current
-- Every passage of a workspace, or of one space of it, that can be found now; a document is a stream of passages.
SELECT chunk_id AS id, document_id AS stream, position, '' AS speaker, text, tsv,
       CASE WHEN embedding_model = %(model)s THEN embedding END AS embedding, NULL::timestamptz AS at
FROM chunks WHERE workspace = %(workspace)s AND retired_at IS NULL
  AND (%(space)s::text IS NULL OR document_id IN (
      SELECT d.document_id FROM documents d WHERE d.workspace = %(workspace)s AND d.space = %(space)s))

-- name: as_of
-- Every passage of a workspace, or of one space of it, that could be found at a time.
SELECT chunk_id AS id, document_id AS stream, position, '' AS speaker, text, tsv,
       CASE WHEN embedding_model = %(model)s THEN embedding END AS embedding, NULL::timestamptz AS at
FROM chunks WHERE workspace = %(workspace)s AND added_at <= %(as_of)s AND (retired_at IS NULL OR retired_at > %(as_of)s)
  AND (%(space)s::text IS NULL OR document_id IN (
      SELECT d.document_id FROM documents d WHERE d.workspace = %(workspace)s AND d.space = %(space)s))

-- name: chunks_by_id
SELECT c.chunk_id, c.document_id, c.edition, d.title, c.heading, c.text, d.origin,
       CASE WHEN d.removed_at IS NULL THEN d.public_url ELSE '' END AS public_url, d.sendable AND d.removed_at IS NULL AS sendable
FROM chunks c JOIN documents d USING (document_id)
WHERE c.workspace = %(workspace)s AND c.chunk_id = ANY(%(ids)s)
