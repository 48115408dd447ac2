-- name: scored
-- The passages of the most promising streams of a scope. What stands for scope is a SELECT of
-- (id, stream, position, speaker, text, tsv, embedding, at), the vector of the query's model or NULL. Its similarity is that to
-- the query, or to the same in the words of whom it names (voice.py); as_asked is then that to the query itself. BM25 counts frequencies
-- within the scope; a stream (thread, session, document) is scored once more as one long document. Coverage is the share
-- of the query's words that a passage holds, each as much as it is rare; a word that stands nowhere counts as the rarest.
-- A speaker's name counts by who says a passage (signals.py), not as a word: it stands in greetings. If a query has
-- nothing but names, they are its words.
WITH scope AS MATERIALIZED (
    SELECT
        id, stream, position, speaker, tsv, at,
        char_length(text) AS length,
        rtrim(text) LIKE '%%?' AS question,
        length(tsv)::float8 AS size,
        1 - (embedding <=> coalesce(%(own_words)s::halfvec, %(vector)s)) AS similarity,
        CASE WHEN %(own_words)s::halfvec IS NOT NULL THEN 1 - (embedding <=> %(vector)s) END AS as_asked
    FROM ({scope}) AS row
),
every_word AS MATERIALIZED (
    SELECT lexeme FROM unnest(tsvector_to_array(to_tsvector('english', %(text)s))) AS lexeme
),
name AS MATERIALIZED (
    SELECT DISTINCT lexeme
    FROM (SELECT DISTINCT speaker FROM scope WHERE speaker <> '') AS one,
         unnest(tsvector_to_array(to_tsvector('english', speaker))) AS lexeme
),
word AS MATERIALIZED (
    SELECT lexeme FROM every_word WHERE lexeme NOT IN (SELECT lexeme FROM name)
    UNION ALL
    SELECT lexeme FROM every_word WHERE NOT EXISTS (SELECT FROM every_word WHERE lexeme NOT IN (SELECT lexeme FROM name))
),
total AS (
    SELECT
        count(*) AS n, avg(size) AS mean,
        count(DISTINCT stream) AS streams, sum(size) / count(DISTINCT stream) AS stream_mean
    FROM scope
),
matches AS (
    SELECT scope.id, scope.stream, scope.size, entry.lexeme, cardinality(entry.positions) AS tf
    FROM scope, unnest(scope.tsv) AS entry
    WHERE scope.tsv @@ (SELECT string_agg(quote_literal(lexeme), '|')::tsquery FROM word)
    AND entry.lexeme IN (SELECT lexeme FROM word)
),
rarity AS (
    SELECT lexeme, bm25_idf(n, count(*)) AS idf, bm25_idf(streams, count(DISTINCT stream)) AS stream_idf
    FROM matches, total
    GROUP BY lexeme, n, streams
),
asked AS (SELECT sum(coalesce(idf, bm25_idf(n, 0))) AS idf FROM total, word LEFT JOIN rarity USING (lexeme)),
lexical AS (
    SELECT id, sum(bm25(tf, size, mean, rarity.idf)) AS score, sum(rarity.idf) / asked.idf AS coverage
    FROM matches JOIN rarity USING (lexeme), total, asked
    GROUP BY id, asked.idf
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
        id, stream, position, speaker, length, question, similarity, as_asked, at,
        coalesce(lexical.score, 0) AS lexical,
        coalesce(lexical.coverage, 0) AS coverage,
        coalesce(stream_lexical.score, 0) AS stream_lexical
    FROM scope LEFT JOIN lexical USING (id) LEFT JOIN stream_lexical USING (stream)
),
promising AS (
    (SELECT stream FROM scored ORDER BY similarity DESC NULLS LAST LIMIT %(candidates)s)
    UNION
    (SELECT stream FROM scored WHERE lexical > 0 ORDER BY lexical DESC LIMIT %(candidates)s)
)
SELECT * FROM scored WHERE stream IN (SELECT stream FROM promising) ORDER BY stream, position
