-- What the agent remembers of participants, and the cache of vectors.
-- Needs no extension but `vector`.
-- depends: 0006_knowledge

CREATE EXTENSION IF NOT EXISTS vector;

CREATE FUNCTION bm25_idf(documents float8, containing float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ln(1 + (documents - containing + 0.5) / (containing + 0.5));

COMMENT ON FUNCTION bm25_idf IS
'How rare a word is: Robertson''s inverse document frequency, kept above 0 as Lucene does.';

CREATE FUNCTION bm25(tf float8, size float8, mean_size float8, idf float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * size / mean_size));

COMMENT ON FUNCTION bm25 IS
'What a word that stands tf times in a document of that size adds to its score; k1 = 1.2, b = 0.75.';

CREATE TABLE embeddings (
    model text NOT NULL,
    text_sha256 text NOT NULL CHECK (length(text_sha256) = 64),
    vector vector NOT NULL,
    PRIMARY KEY (model, text_sha256)
);

COMMENT ON TABLE embeddings IS
'Cache of vectors by (model, lower-case hex sha256 of the UTF-8 text). May be emptied at any time; outside of every state hash.';

COMMENT ON COLUMN embeddings.vector IS 'float32, L2-normalised; its dimension belongs to the model.';

CREATE TABLE facts (
    fact_id uuid PRIMARY KEY,
    workspace text NOT NULL,
    participant_id uuid NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    text text NOT NULL,
    single_valued boolean NOT NULL,
    confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    importance real NOT NULL CHECK (importance BETWEEN 0 AND 1),
    weight real NOT NULL DEFAULT 1 CHECK (weight >= 0),
    trust text NOT NULL CHECK (trust IN ('human', 'authenticated', 'inferred', 'ours')),
    pinned boolean NOT NULL DEFAULT FALSE,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    expires_at timestamptz,
    recorded_at timestamptz NOT NULL,
    superseded_at timestamptz,
    superseded_by uuid,
    retracted_at timestamptz,
    source_event_id uuid NOT NULL,
    source_message_id text,
    quote text CHECK (char_length(quote) <= 300),
    quote_sha256 text CHECK (length(quote_sha256) = 64),
    span_start integer CHECK (span_start >= 0),
    span_end integer CHECK (span_end >= span_start),
    version bigint NOT NULL,
    tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED,
    embedding halfvec,
    embedding_model text,
    CHECK (superseded_at IS NOT NULL OR (superseded_by IS NULL AND retracted_at IS NULL))
);

COMMENT ON TABLE facts IS
'Bi-temporal: valid_* is when it was so, recorded_at .. superseded_at is when we believed it. No row is overwritten: a correction, a change or a retraction ends the row and, but for a retraction, names its successor. Current = superseded_at IS NULL.';

COMMENT ON COLUMN facts.fact_id IS 'uuid5(source event id, step).';
COMMENT ON COLUMN facts.kind IS
'customer_info, order_info, preference, issue_history, contact_info, identity, goal, event, relationship, interaction, resolution, note, action, or one that the operator defines.';
COMMENT ON COLUMN facts.key IS 'What the value is of, snake_case; one vocabulary per participant, across kinds.';
COMMENT ON COLUMN facts.text IS 'The sentence that is searched, embedded and shown.';
COMMENT ON COLUMN facts.single_valued IS 'TRUE: the database holds at most one current row for (workspace, participant, key).';
COMMENT ON COLUMN facts.confidence IS '0..1, computed from distinct messages, threads and sender trust, not copied from the model.';
COMMENT ON COLUMN facts.importance IS '0..1: the model''s 1..10 divided by ten, after the floors by kind.';
COMMENT ON COLUMN facts.weight IS 'Factor of what experience says, 1 = neutral.';
COMMENT ON COLUMN facts.trust IS 'human (a person here said so) > authenticated > inferred; ours = sourced from our own sent mail or act.';
COMMENT ON COLUMN facts.pinned IS 'TRUE: does not decay.';
COMMENT ON COLUMN facts.valid_from IS 'Since when it is so: the mail''s Date where that may be trusted, else receipt.';
COMMENT ON COLUMN facts.valid_to IS 'Until when it was so (exclusive); NULL = still.';
COMMENT ON COLUMN facts.expires_at IS 'From then on it is shown no more ("on vacation until 15 January"); NULL = never.';
COMMENT ON COLUMN facts.recorded_at IS 'The time of the event that told us.';
COMMENT ON COLUMN facts.superseded_at IS 'The time of the event that ended our belief in this row: successor or retraction. NULL = current.';
COMMENT ON COLUMN facts.superseded_by IS 'The successor; NULL where it was retracted.';
COMMENT ON COLUMN facts.retracted_at IS 'Equals superseded_at where a person or the extractor took it back without a successor.';
COMMENT ON COLUMN facts.source_message_id IS 'Message-ID of the mail that the quote stands in.';
COMMENT ON COLUMN facts.quote IS 'The words of that mail, verbatim.';
COMMENT ON COLUMN facts.span_start IS 'First character of the quote in the mail''s new text; span_end is exclusive.';
COMMENT ON COLUMN facts.version IS 'Version of the participant aggregate that wrote the row last.';
COMMENT ON COLUMN facts.tsv IS 'Derived. English stems: measured better than ''simple'' (docs: tests/benchmarks/recall_quality).';
COMMENT ON COLUMN facts.embedding IS 'Cache of the vector of text; NULL until embedded. Outside of every state hash.';
COMMENT ON COLUMN facts.embedding_model IS 'Whose vector it is. Outside of every state hash.';

CREATE UNIQUE INDEX facts_one_current_value ON facts (workspace, participant_id, key)
WHERE superseded_at IS NULL AND single_valued;

CREATE INDEX facts_of_participant ON facts (workspace, participant_id, recorded_at);

CREATE INDEX facts_by_word ON facts USING gin (tsv);

-- For the local embedder; another dimension gets its own (embeddings.sql, index_meaning).
CREATE INDEX facts_by_meaning ON facts USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)
WHERE vector_dims(embedding) = 384;
