-- The knowledge base, kept by learn_documents.
-- depends: 0005_participants

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE documents (
    document_id uuid PRIMARY KEY,
    workspace   text NOT NULL,
    title       text NOT NULL,
    origin      text NOT NULL,
    blob        text NOT NULL,
    version     int  NOT NULL,
    indexed_at  timestamptz NOT NULL
);

CREATE TABLE chunks (
    chunk_id    uuid PRIMARY KEY,
    document_id uuid NOT NULL,
    workspace   text NOT NULL,
    version     int  NOT NULL,
    position    int  NOT NULL,
    heading     text NOT NULL,
    text        text NOT NULL,
    tsv         tsvector GENERATED ALWAYS AS (to_tsvector('english', heading || ' ' || text)) STORED,
    embedding   halfvec
);
CREATE INDEX chunks_by_document ON chunks (document_id);
CREATE INDEX chunks_words ON chunks USING gin (tsv);
COMMENT ON COLUMN chunks.embedding IS 'Cache of the vector of heading and text. Outside of every state hash.';
