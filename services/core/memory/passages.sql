-- name: scored
-- The passages of the most promising streams of a scope. What stands for scope is a SELECT of
-- (id, stream, position, speaker, text, tsv, embedding). BM25 counts frequencies within the scope; a stream
-- (thread, session, document) is scored once more as one long document.
WITH scope AS MATERIALIZED (
    SELECT
        id, stream, position, speaker, tsv,
        char_length(text) AS length,
        rtrim(text) LIKE '%%?' AS question,
        length(tsv)::float8 AS size,
        CASE WHEN vector_dims(embedding) = %(dimensions)s THEN 1 - (embedding <=> %(vector)s) END AS similarity
    FROM ({scope}) AS row
),
total AS (
    SELECT count(*) AS n, avg(size) AS mean, count(DISTINCT stream) AS streams, sum(size) / count(DISTINCT stream) AS stream_mean
    FROM scope
),
matches AS (
    SELECT scope.id, scope.stream, scope.size, word.lexeme, cardinality(word.positions) AS tf
    FROM scope, unnest(scope.tsv) AS word
    WHERE word.lexeme = ANY(%(lexemes)s)
),
rarity AS (
    SELECT lexeme, bm25_idf(n, count(*)) AS idf, bm25_idf(streams, count(DISTINCT stream)) AS stream_idf
    FROM matches, total
    GROUP BY lexeme, n, streams
),
lexical AS (
    SELECT id, sum(bm25(tf, size, mean, idf)) AS score
    FROM matches JOIN rarity USING (lexeme), total
    GROUP BY id
),
stream_size AS (SELECT stream, sum(size) AS size FROM scope GROUP BY stream),
stream_matches AS (SELECT stream, lexeme, sum(tf) AS tf FROM matches GROUP BY stream, lexeme),
stream_lexical AS (
    SELECT stream, sum(bm25(tf, size, stream_mean, stream_idf)) AS score
    FROM stream_matches JOIN rarity USING (lexeme) JOIN stream_size USING (stream), total
    GROUP BY stream
),
scored AS (
    SELECT
        id, stream, position, speaker, length, question, similarity,
        coalesce(lexical.score, 0) AS lexical,
        coalesce(stream_lexical.score, 0) AS stream_lexical
    FROM scope LEFT JOIN lexical USING (id) LEFT JOIN stream_lexical USING (stream)
),
promising AS (
    (SELECT stream FROM scored ORDER BY similarity DESC NULLS LAST LIMIT %(candidates)s)
    UNION
    (SELECT stream FROM scored WHERE lexical > 0 ORDER BY lexical DESC LIMIT %(candidates)s)
)
SELECT * FROM scored WHERE stream IN (SELECT stream FROM promising) ORDER BY stream, position
