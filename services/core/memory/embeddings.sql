-- name: cached
SELECT text_sha256, vector::real[] FROM embeddings WHERE model = %(model)s AND text_sha256 = ANY(%(digests)s)

-- name: keep
-- In one order everywhere, so that two writers never wait for each other.
INSERT INTO embeddings (model, text_sha256, vector)
SELECT %(model)s, digest, vector FROM unnest(%(digests)s::text[], %(vectors)s::text[]::vector[]) AS one (digest, vector)
ORDER BY digest
ON CONFLICT DO NOTHING

-- name: attach
UPDATE facts SET embedding = given.vector, embedding_model = %(model)s
FROM unnest(%(fact_ids)s::uuid[], %(vectors)s::text[]::halfvec[]) AS given (fact_id, vector)
WHERE facts.fact_id = given.fact_id

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
