-- Every stored vector names its model, so that no search compares vectors of different models.
-- depends: 0061_facts_by_model 0080_knowledge_editions

-- Whose vectors passages had was not noted: they are given again, from the cache where it has them.
ALTER TABLE chunks ADD COLUMN embedding_model text;
UPDATE chunks SET embedding = NULL WHERE embedding IS NOT NULL;
ALTER TABLE chunks ADD CONSTRAINT chunks_vector_has_model CHECK ((embedding IS NULL) = (embedding_model IS NULL));
CREATE INDEX chunks_by_model ON chunks (workspace, embedding_model);
COMMENT ON COLUMN chunks.embedding_model IS 'Whose vector it is. Outside of every state hash.';

ALTER TABLE facts ADD CONSTRAINT facts_vector_has_model CHECK ((embedding IS NULL) = (embedding_model IS NULL));

-- It held the vectors of every model with 384 dimensions. The house makes one for the model in use, where it is needed.
DROP INDEX facts_by_meaning;
