-- name: create
-- Turns as passages of any kind would lie there; gone with the connection.
CREATE TEMPORARY TABLE turns (
    id uuid PRIMARY KEY,
    conversation int NOT NULL,
    number int NOT NULL,
    stream uuid NOT NULL,
    position int NOT NULL,
    speaker text NOT NULL,
    text text NOT NULL,
    at timestamptz NOT NULL,
    tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED,
    embedding halfvec NOT NULL
)

-- name: insert
INSERT INTO turns (id, conversation, number, stream, position, speaker, text, at, embedding)
VALUES (%(id)s, %(conversation)s, %(number)s, %(stream)s, %(position)s, %(speaker)s, %(text)s, %(at)s, %(embedding)s)

-- name: scope
SELECT id, stream, position, speaker, text, tsv, embedding, at FROM turns WHERE conversation = %(conversation)s

-- name: dense
-- What pgvector alone would answer.
SELECT id FROM turns WHERE conversation = %(conversation)s ORDER BY embedding <=> %(vector)s LIMIT %(limit)s

-- name: stems
-- Every turn's stems with repetition, for BM25 in Python on the same words.
SELECT array(SELECT w.lexeme FROM unnest(tsv) AS w, generate_series(1, cardinality(w.positions)))
FROM turns WHERE conversation = %(conversation)s ORDER BY number

-- name: query_stems
-- A question's stems.
SELECT tsvector_to_array(to_tsvector('english', %(text)s))
