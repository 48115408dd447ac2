-- name: lacking
-- How many facts, passages of documents, and passages, summaries and told periods of a workspace have a vector of
-- another model, or none yet. Written as ranges, so that the
-- indices by model answer it however many have theirs.
SELECT (SELECT count(*) FROM facts WHERE workspace = %(workspace)s
          AND (embedding_model < %(model)s OR embedding_model > %(model)s)) AS facts_of_others,
       (SELECT count(*) FROM facts WHERE workspace = %(workspace)s AND embedding_model IS NULL) AS facts_without,
       (SELECT count(*) FROM chunks WHERE workspace = %(workspace)s
          AND (embedding_model < %(model)s OR embedding_model > %(model)s)) AS passages_of_others,
       (SELECT count(*) FROM chunks WHERE workspace = %(workspace)s AND embedding_model IS NULL) AS passages_without,
       (SELECT count(*) FROM conversation_passages WHERE workspace = %(workspace)s
          AND (embedding_model < %(model)s OR embedding_model > %(model)s)) +
       (SELECT count(*) FROM thread_summaries WHERE workspace = %(workspace)s
          AND (embedding_model < %(model)s OR embedding_model > %(model)s)) +
       (SELECT count(*) FROM memory_periods WHERE workspace = %(workspace)s
          AND (embedding_model < %(model)s OR embedding_model > %(model)s)) AS said_of_others,
       (SELECT count(*) FROM conversation_passages WHERE workspace = %(workspace)s AND embedding_model IS NULL) +
       (SELECT count(*) FROM thread_summaries WHERE workspace = %(workspace)s AND embedding_model IS NULL) +
       (SELECT count(*) FROM memory_periods WHERE workspace = %(workspace)s AND embedding_model IS NULL AND text <> '')
           AS said_without;

-- name: models
-- Whose vectors the facts, the passages of documents and those of conversations of a workspace have; NULL for none.
SELECT embedding_model AS model, sum(facts)::int AS facts, sum(passages)::int AS passages, sum(said)::int AS said FROM (
    SELECT embedding_model, count(*) AS facts, 0 AS passages, 0 AS said FROM facts
    WHERE workspace = %(workspace)s GROUP BY 1
    UNION ALL
    SELECT embedding_model, 0, count(*), 0 FROM chunks WHERE workspace = %(workspace)s GROUP BY 1
    UNION ALL
    SELECT embedding_model, 0, 0, count(*) FROM conversation_passages WHERE workspace = %(workspace)s GROUP BY 1
    UNION ALL
    SELECT embedding_model, 0, 0, count(*) FROM thread_summaries WHERE workspace = %(workspace)s GROUP BY 1
    UNION ALL
    SELECT embedding_model, 0, 0, count(*) FROM memory_periods WHERE workspace = %(workspace)s AND text <> '' GROUP BY 1) AS counted
GROUP BY embedding_model ORDER BY embedding_model NULLS LAST;

-- name: facts_lacking
SELECT fact_id AS id, text FROM facts
WHERE workspace = %(workspace)s AND fact_id > %(after)s
  AND (embedding_model IS NULL OR embedding_model < %(model)s OR embedding_model > %(model)s)
ORDER BY fact_id LIMIT %(limit)s;

-- name: passages_lacking
SELECT chunk_id AS id, heading || E'\n' || text AS text FROM chunks
WHERE workspace = %(workspace)s AND chunk_id > %(after)s
  AND (embedding_model IS NULL OR embedding_model < %(model)s OR embedding_model > %(model)s)
ORDER BY chunk_id LIMIT %(limit)s;

-- name: said_lacking
SELECT passage_id AS id, text FROM conversation_passages
WHERE workspace = %(workspace)s AND passage_id > %(after)s
  AND (embedding_model IS NULL OR embedding_model < %(model)s OR embedding_model > %(model)s)
ORDER BY passage_id LIMIT %(limit)s;

-- name: summaries_lacking
SELECT summary_id AS id, text FROM thread_summaries
WHERE workspace = %(workspace)s AND summary_id > %(after)s
  AND (embedding_model IS NULL OR embedding_model < %(model)s OR embedding_model > %(model)s)
ORDER BY summary_id LIMIT %(limit)s;

-- name: periods_lacking
SELECT period_id AS id, text FROM memory_periods
WHERE workspace = %(workspace)s AND period_id > %(after)s AND text <> ''
  AND (embedding_model IS NULL OR embedding_model < %(model)s OR embedding_model > %(model)s)
ORDER BY period_id LIMIT %(limit)s;

-- name: attach_to_periods
-- As to facts.
WITH given AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(texts)s::text[], %(vectors)b::halfvec[]) AS one (id, said, vector)
),
free AS MATERIALIZED (SELECT period_id FROM memory_periods WHERE period_id = ANY(%(ids)s::uuid[]) FOR UPDATE SKIP LOCKED)
UPDATE memory_periods SET embedding = given.vector, embedding_model = %(model)s
FROM given, free
WHERE memory_periods.period_id = given.id AND free.period_id = given.id AND memory_periods.text = given.said
RETURNING memory_periods.period_id AS id;

-- name: attach_to_facts
-- To those that still say what was read, and that nobody is changing right now.
WITH given AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(texts)s::text[], %(vectors)b::halfvec[]) AS one (id, said, vector)
),
free AS MATERIALIZED (SELECT fact_id FROM facts WHERE fact_id = ANY(%(ids)s::uuid[]) FOR UPDATE SKIP LOCKED)
UPDATE facts SET embedding = given.vector, embedding_model = %(model)s, words = text_words(facts.text)
FROM given, free
WHERE facts.fact_id = given.id AND free.fact_id = given.id AND facts.text = given.said
RETURNING facts.fact_id AS id;

-- name: attach_to_passages
-- As to facts.
WITH given AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(texts)s::text[], %(vectors)b::halfvec[]) AS one (id, said, vector)
),
free AS MATERIALIZED (SELECT chunk_id FROM chunks WHERE chunk_id = ANY(%(ids)s::uuid[]) FOR UPDATE SKIP LOCKED)
UPDATE chunks SET embedding = given.vector, embedding_model = %(model)s
FROM given, free
WHERE chunks.chunk_id = given.id AND free.chunk_id = given.id AND chunks.heading || E'\n' || chunks.text = given.said
RETURNING chunks.chunk_id AS id;

-- name: attach_to_said
-- As to facts.
WITH given AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(texts)s::text[], %(vectors)b::halfvec[]) AS one (id, said, vector)
),
free AS MATERIALIZED (
    SELECT passage_id FROM conversation_passages WHERE passage_id = ANY(%(ids)s::uuid[]) FOR UPDATE SKIP LOCKED)
UPDATE conversation_passages SET embedding = given.vector, embedding_model = %(model)s
FROM given, free
WHERE conversation_passages.passage_id = given.id AND free.passage_id = given.id AND conversation_passages.text = given.said
RETURNING conversation_passages.passage_id AS id;

-- name: attach_to_summaries
-- As to facts.
WITH given AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(texts)s::text[], %(vectors)b::halfvec[]) AS one (id, said, vector)
),
free AS MATERIALIZED (
    SELECT summary_id FROM thread_summaries WHERE summary_id = ANY(%(ids)s::uuid[]) FOR UPDATE SKIP LOCKED)
UPDATE thread_summaries SET embedding = given.vector, embedding_model = %(model)s
FROM given, free
WHERE thread_summaries.summary_id = given.id AND free.summary_id = given.id AND thread_summaries.text = given.said
RETURNING thread_summaries.summary_id AS id;

-- name: index_stands
-- Whether there is such an index; false for one whose making was interrupted, no row for none.
SELECT i.indisvalid AS valid FROM pg_index i WHERE i.indexrelid = to_regclass(%(name)s::text);

-- name: index_is_due
-- Whether so many facts have a vector of the model.
SELECT count(*) >= %(least)s AS due FROM (
    SELECT FROM facts WHERE embedding_model = %(model)s LIMIT %(least)s) AS found;

-- name: index
-- Of one model's vectors, denser than pgvector makes it by itself (docs/benchmarks.md); nobody waits for its making.
CREATE INDEX CONCURRENTLY {name} ON facts USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)
WITH (m = {m}, ef_construction = {ef_construction}) WHERE embedding_model = {model};

-- name: name_model
-- Whose vectors an index is of.
COMMENT ON INDEX {name} IS {model};

-- name: drop_index
DROP INDEX CONCURRENTLY IF EXISTS {name};

-- name: idle_indices
-- Indices of models that no fact has a vector of any more, and others of the model in use.
SELECT c.relname AS name FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'i'
  AND c.relname LIKE 'facts\_by\_meaning\_%%' AND c.relname <> %(name)s
  AND (obj_description(c.oid, 'pg_class') = %(model)s
       OR NOT EXISTS (SELECT FROM facts WHERE embedding_model = obj_description(c.oid, 'pg_class')));
