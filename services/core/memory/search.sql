-- name: scoped
-- Exact search of one participant's (or a small workspace's) rows: cosine similarity, and BM25 over
-- the OR of the query's lexemes, with document frequencies counted within the scope itself.
-- What stands for scope is a SELECT of (id, tsv, embedding).
WITH scope AS MATERIALIZED (
    SELECT
        id,
        tsv,
        length(tsv)::float8 AS size,
        CASE WHEN vector_dims(embedding) = %(dimensions)s THEN 1 - (embedding <=> %(vector)s) END AS similarity
    FROM ({scope}) AS row
),
total AS (SELECT count(*) AS n, avg(size) AS mean FROM scope),
matches AS (
    SELECT scope.id, scope.size, word.lexeme, cardinality(word.positions) AS tf
    FROM scope, unnest(scope.tsv) AS word
    WHERE word.lexeme = ANY(%(lexemes)s)
),
rarity AS (
    SELECT lexeme, bm25_idf(n, count(*)) AS idf
    FROM matches, total
    GROUP BY lexeme, n
),
lexical AS (
    SELECT id, sum(bm25(tf, size, mean, idf)) AS score
    FROM matches JOIN rarity USING (lexeme), total
    GROUP BY id
),
scored AS (
    SELECT id, similarity, coalesce(score, 0) AS lexical
    FROM scope LEFT JOIN lexical USING (id)
)
SELECT id, similarity, lexical, n::integer AS scope_size FROM (
    (SELECT * FROM scored ORDER BY similarity DESC NULLS LAST LIMIT %(candidates)s)
    UNION
    (SELECT * FROM scored WHERE lexical > 0 ORDER BY lexical DESC LIMIT %(candidates)s)
) AS candidate, total

-- name: believed_and_valid
-- What was believed at as_of and had neither ended nor expired by then.
SELECT fact_id AS id, tsv, embedding FROM facts
WHERE workspace = %(workspace)s AND recorded_at <= %(as_of)s
AND (superseded_at IS NULL OR superseded_at > %(as_of)s)
AND (valid_to IS NULL OR valid_to > %(as_of)s)
AND (expires_at IS NULL OR expires_at > %(as_of)s)

-- name: so_within_window
-- What was known at as_of and was so at some time within the window, also if it has changed or expired since.
SELECT fact_id AS id, tsv, embedding FROM facts
WHERE workspace = %(workspace)s AND recorded_at <= %(as_of)s
AND (retracted_at IS NULL OR retracted_at > %(as_of)s)
AND valid_from < %(window_end)s
AND coalesce(least(valid_to, expires_at, superseded_at), 'infinity') > %(window_start)s

-- name: facts_by_id
SELECT
    fact_id, participant_id, kind, key, value, text, confidence, importance, weight, trust, pinned,
    valid_from, valid_to, expires_at, recorded_at, superseded_at, source_message_id, quote
FROM facts
WHERE fact_id = ANY(%(ids)s)
