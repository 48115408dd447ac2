-- name: stage
-- Where the drawn facts land before they become rows.
CREATE TEMPORARY TABLE staged (number int, participant int, text text, embedding halfvec)

-- name: copy
-- In binary.
COPY staged (number, participant, text, embedding) FROM STDIN (FORMAT BINARY)

-- name: unindex
-- Indices are built after loading.
DROP INDEX facts_of_participant, facts_by_word

-- name: insert
-- Every fact is current; they began within three years.
INSERT INTO facts (
    fact_id, workspace, participant_id, kind, key, value, text, words, single_valued, confidence, importance, trust,
    valid_from, recorded_at, source_event_id, version, embedding, embedding_model
)
SELECT
    md5('fact' || number)::uuid, 'w', md5('participant' || participant)::uuid, 'note', 'k' || number, text, text,
    text_words(text), FALSE, 0.5 + number %% 5 * 0.1, number %% 10 * 0.1, 'authenticated',
    timestamptz '2026-01-01' - number %% 1000 * interval '1 day', timestamptz '2026-01-01',
    md5('fact' || number)::uuid, 1, embedding, %(model)s
FROM staged

-- name: participant
-- The id that the n-th participant got.
SELECT md5('participant' || %(number)s::int)::uuid

-- name: nearest
-- The exact answer, without an index.
SELECT fact_id FROM facts ORDER BY embedding <=> %(vector)s LIMIT %(limit)s
