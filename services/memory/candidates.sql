-- name: of_participant
-- Exact: every fact of one participant that stands under the condition, by cosine and by BM25 with the
-- frequencies within that memory. A fact is a sentence, so a word counts once. Coverage is the share of the
-- query's words that a fact holds, each as much as it is rare; a word that stands nowhere counts as the rarest.
-- Words are those of the question's language (question_words), whatever language a fact is in.
-- Only vectors of the query's own model are compared. A person who writes from several addresses has one memory.
WITH person AS MATERIALIZED (SELECT person_ids(%(participant_id)s) AS people),
word AS MATERIALIZED (SELECT lexeme, query FROM question_words(%(text)s, %(language)s)),
scope AS MATERIALIZED (
    SELECT
        fact_id, pinned, held.words, length(held.words)::float8 AS size,
        CASE WHEN embedding_model = {model} THEN 1 - (embedding <=> %(vector)s) END AS similarity
    FROM facts, LATERAL (SELECT coalesce(facts.words, text_words(facts.text)) AS words) AS held
    WHERE {theirs}
),
total AS (SELECT count(*) AS n, avg(size) AS mean FROM scope),
matches AS MATERIALIZED (SELECT fact_id, size, lexeme FROM scope JOIN word ON scope.words @@ word.query),
rarity AS (SELECT lexeme, bm25_idf(n, count(*)) AS idf FROM matches, total GROUP BY lexeme, n),
asked AS (SELECT sum(coalesce(idf, bm25_idf(n, 0))) AS idf FROM total, word LEFT JOIN rarity USING (lexeme)),
lexical AS (
    SELECT fact_id, sum(bm25(1, size, mean, rarity.idf)) AS score, sum(rarity.idf) / asked.idf AS coverage
    FROM matches JOIN rarity USING (lexeme), total, asked
    GROUP BY fact_id, asked.idf
),
scored AS (
    SELECT
        fact_id, pinned, similarity, coalesce(score, 0) AS lexical, coalesce(coverage, 0) AS coverage, n::int AS scope_size
    FROM total, scope LEFT JOIN lexical USING (fact_id)
),
{nominated}
{shown}

-- name: newest
-- Every fact of one participant that stands under the condition, without a question: what became so last comes first.
WITH person AS MATERIALIZED (SELECT person_ids(%(participant_id)s) AS people),
nominated AS (
    SELECT fact_id, NULL::float8 AS similarity, 0::float8 AS lexical, 0::float8 AS coverage, NULL::int AS scope_size
    FROM facts WHERE {theirs}
    ORDER BY valid_from DESC, fact_id LIMIT %(candidates)s
)
{shown}
ORDER BY valid_from DESC, fact_id

-- name: words
-- The stems of a query and in how many facts each stands, as the planner's statistics estimate it: a word
-- that they do not list is at most as frequent as the rarest that they do.
WITH known AS (
    SELECT most_common_elems::text::text[] AS lexemes, most_common_elem_freqs AS shares
    FROM pg_stats
    WHERE schemaname = current_schema() AND tablename = 'facts' AND attname = 'tsv'
),
listed AS (
    SELECT lexeme, share FROM known, unnest(lexemes, shares) AS entry (lexeme, share) WHERE lexeme IS NOT NULL
),
total AS (SELECT greatest(reltuples, 1) AS n FROM pg_class WHERE oid = 'facts'::regclass)
SELECT lexeme, greatest(coalesce(share, (SELECT min(share) FROM listed), 0) * n, 1)::float8 AS documents, n::float8 AS total
FROM total, unnest(tsvector_to_array(to_tsvector('english', %(text)s))) AS lexeme LEFT JOIN listed USING (lexeme)

-- name: of_workspace
-- Through the indices: the nearest by vector, and at most `cap` facts that hold one of the query's rare words. The model
-- is written into the statement, not handed to it, so that the index of its vectors fits.
WITH word AS (
    SELECT lexeme, idf, quote_literal(lexeme)::tsquery AS query
    FROM unnest(%(lexemes)s::text[], %(rarities)s::float8[]) AS entry (lexeme, idf)
),
near AS MATERIALIZED (
    SELECT fact_id FROM facts
    WHERE workspace = %(workspace)s AND {condition} AND embedding_model = {model}
    ORDER BY embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})
    LIMIT %(candidates)s
),
wordy AS MATERIALIZED (
    SELECT fact_id FROM facts
    WHERE tsv @@ %(rare)s::tsquery AND workspace = %(workspace)s AND {condition}
    LIMIT %(cap)s
),
scope AS MATERIALIZED (
    SELECT
        fact_id, pinned, tsv, length(tsv)::float8 AS size,
        CASE WHEN embedding_model = {model} THEN 1 - (embedding <=> %(vector)s) END AS similarity
    FROM facts JOIN (SELECT fact_id FROM near UNION SELECT fact_id FROM wordy) AS found USING (fact_id)
),
total AS (SELECT avg(size) AS mean FROM scope),
asked AS (SELECT sum(idf) AS idf FROM word),
lexical AS (
    SELECT fact_id, sum(bm25(1, size, mean, word.idf)) AS score, sum(word.idf) / asked.idf AS coverage
    FROM total, asked, scope JOIN word ON scope.tsv @@ word.query
    GROUP BY fact_id, asked.idf
),
scored AS (
    SELECT
        fact_id, pinned, similarity, coalesce(score, 0) AS lexical, coalesce(coverage, 0) AS coverage,
        NULL::int AS scope_size
    FROM scope LEFT JOIN lexical USING (fact_id)
),
{nominated}
{shown}

-- name: theirs
-- What one person said, under whichever of their addresses, as far as no other one of these outranks it.
workspace = %(workspace)s AND participant_id = ANY((SELECT people FROM person)::uuid[]) AND {condition}
AND ((SELECT cardinality(people) FROM person) = 1 OR NOT outranked((SELECT people FROM person)::uuid[], fact_id, %(as_of)s))

-- name: nominated
-- The nearest in meaning, those that share words, and what a person pinned.
nominated AS (
    (SELECT * FROM scored ORDER BY similarity DESC NULLS LAST LIMIT %(candidates)s)
    UNION
    (SELECT * FROM scored WHERE lexical > 0 ORDER BY lexical DESC LIMIT %(candidates)s)
    UNION
    (SELECT * FROM scored WHERE pinned)
)

-- name: shown
-- A candidate's scores, whether it was derived from others, its fact, and when that was last said to be so. Confidence has
-- four digits: as a `real` 0.7 would come back as 0.69999999, which is below 0.7.
SELECT
    similarity, lexical, coverage, scope_size,
    EXISTS (SELECT 1 FROM fact_parents AS rests WHERE rests.fact_id = facts.fact_id) AS derived,
    fact_id, participant_id, kind, key, value, text, round(confidence::numeric, 4)::float8 AS confidence,
    round(importance::numeric, 4)::float8 AS importance, round(weight::numeric, 4)::float8 AS weight, trust, facts.pinned,
    valid_from, valid_to, expires_at, recorded_at, superseded_at, source_message_id, quote,
    (SELECT max(said.said_at) FROM fact_sources AS said
     WHERE said.fact_id = facts.fact_id AND said.at <= %(as_of)s AND said.trust <> 'ours') AS said_at
FROM nominated JOIN facts USING (fact_id)

-- name: believed_and_valid
-- What was believed at as_of and had neither ended nor expired by then. An end that was recorded together with the end
-- of our belief, or later, was not known before that.
recorded_at <= %(as_of)s
AND (superseded_at IS NULL OR superseded_at > %(as_of)s)
AND (valid_to IS NULL OR valid_to > %(as_of)s OR superseded_at > %(as_of)s)
AND (expires_at IS NULL OR expires_at > %(as_of)s)

-- name: so_within_window
-- What was known at as_of and was so at some time within the window, also if it has changed or expired since. What happened
-- lies in it only if it happened in it, went on into it by its own end, or (a trouble) was reported again in it.
recorded_at <= %(as_of)s
AND (retracted_at IS NULL OR retracted_at > %(as_of)s)
AND valid_from < %(window_end)s
AND coalesce(CASE WHEN superseded_at > %(as_of)s THEN expires_at ELSE least(valid_to, expires_at, superseded_at) END,
             'infinity') > %(window_start)s
AND (kind <> ALL(%(occurrences)s) OR valid_from >= %(window_start)s OR expires_at > %(window_start)s
     OR (kind = 'issue_history' AND EXISTS (
         SELECT 1 FROM fact_sources AS again WHERE again.fact_id = facts.fact_id
         AND again.said_at >= %(window_start)s AND again.said_at < %(window_end)s AND again.at <= %(as_of)s)))

-- name: breadth
-- How widely the vector index looks in this transaction; it goes on by itself where filters leave too little.
SELECT set_config('hnsw.ef_search', %(breadth)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)
