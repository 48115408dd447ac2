-- name: cached
SELECT text_sha256, vector FROM embeddings WHERE model = %(model)s AND text_sha256 = ANY(%(digests)s)

-- name: keep
-- In one order everywhere, so that two writers never wait for each other.
INSERT INTO embeddings (model, text_sha256, vector)
SELECT %(model)s, digest, vector FROM unnest(%(digests)s::text[], %(vectors)b::vector[]) AS one (digest, vector)
ORDER BY digest
ON CONFLICT DO NOTHING

-- name: attach
UPDATE facts SET embedding = given.vector, embedding_model = %(model)s
FROM unnest(%(fact_ids)s::uuid[], %(vectors)b::halfvec[]) AS given (fact_id, vector)
WHERE facts.fact_id = given.fact_id

-- name: empty
-- The cache does not say whose texts it was made of.
DELETE FROM embeddings;
