-- name: cached
SELECT text_sha256, vector::real[] FROM embeddings WHERE model = %(model)s AND text_sha256 = ANY(%(digests)s)

-- name: keep
INSERT INTO embeddings (model, text_sha256, vector) VALUES (%(model)s, %(digest)s, %(vector)s::vector)
ON CONFLICT DO NOTHING

-- name: attach
UPDATE facts SET embedding = %(vector)s::halfvec, embedding_model = %(model)s WHERE fact_id = %(fact_id)s

-- name: without_vector
-- Written as ranges, so that the index facts_by_model answers it however many facts have their vector.
SELECT fact_id, text FROM facts
WHERE workspace = %(workspace)s
  AND (embedding_model IS NULL OR embedding_model < %(model)s OR embedding_model > %(model)s)
ORDER BY recorded_at DESC, fact_id
LIMIT %(limit)s

-- name: index_meaning
-- The vector index for one dimension; the one for 384 comes with the migration.
CREATE INDEX IF NOT EXISTS {name} ON facts USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)
WHERE vector_dims(embedding) = {dimensions}

-- name: empty
-- The cache does not say whose texts it was made of.
DELETE FROM embeddings;
