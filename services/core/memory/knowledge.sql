-- name: scope
-- Every passage of a workspace that can be found now; a document is a stream of passages.
SELECT chunk_id AS id, document_id AS stream, position, '' AS speaker, text, tsv, embedding
FROM chunks WHERE workspace = %(workspace)s

-- name: chunks_by_id
SELECT c.chunk_id, d.title, c.heading, c.text
FROM chunks c JOIN documents d USING (document_id)
WHERE c.chunk_id = ANY(%(ids)s)
