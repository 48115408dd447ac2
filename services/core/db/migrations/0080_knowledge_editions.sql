-- Documents in editions that stay, what cites them, what was decided about them, and articles that are proposed.
-- depends: 0030_workspaces

ALTER TABLE documents
    ADD COLUMN edition    int  NOT NULL DEFAULT 1,
    ADD COLUMN media_type text NOT NULL DEFAULT 'text/markdown',
    ADD COLUMN public_url text NOT NULL DEFAULT '',
    ADD COLUMN note       text NOT NULL DEFAULT '',
    ADD COLUMN removed_at timestamptz;
UPDATE documents SET edition = version;
CREATE INDEX documents_by_workspace ON documents (workspace, title);

ALTER TABLE chunks
    ADD COLUMN edition    int NOT NULL DEFAULT 1,
    ADD COLUMN added_at   timestamptz,
    ADD COLUMN retired_at timestamptz;
UPDATE chunks c SET edition = d.edition, added_at = d.indexed_at FROM documents d WHERE d.document_id = c.document_id;
ALTER TABLE chunks ALTER COLUMN added_at SET NOT NULL;
CREATE INDEX chunks_current ON chunks (workspace) WHERE retired_at IS NULL;
COMMENT ON COLUMN chunks.retired_at IS 'Since when a newer edition, or a removal, keeps it from being found; the row stays.';

CREATE TABLE document_log (
    document_id uuid NOT NULL,
    version     int  NOT NULL,
    workspace   text NOT NULL,
    at          timestamptz NOT NULL,
    decision    text NOT NULL CHECK (decision IN ('indexed', 'removed', 'refused', 'proposed', 'rejected')),
    title       text NOT NULL DEFAULT '',
    origin      text NOT NULL DEFAULT '',
    detail      text NOT NULL DEFAULT '',
    by          text NOT NULL DEFAULT '',
    cause       uuid,
    PRIMARY KEY (document_id, version)
);
CREATE INDEX document_log_by_cause ON document_log (cause);

CREATE TABLE citations (
    reply_id    uuid NOT NULL,
    chunk_id    uuid NOT NULL,
    document_id uuid NOT NULL,
    workspace   text NOT NULL,
    thread_id   uuid NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (reply_id, chunk_id)
);
CREATE INDEX citations_by_document ON citations (document_id, at);
CREATE INDEX citations_by_thread ON citations (thread_id);

CREATE TABLE proposals (
    document_id uuid PRIMARY KEY,
    workspace   text NOT NULL,
    title       text NOT NULL,
    text        text NOT NULL,
    thread_id   uuid NOT NULL,
    reply_id    uuid NOT NULL,
    source      text NOT NULL,
    masked      int  NOT NULL,
    state       text NOT NULL CHECK (state IN ('proposed', 'accepted', 'rejected')),
    proposed_at timestamptz NOT NULL,
    decided_at  timestamptz
);
CREATE INDEX proposals_by_state ON proposals (workspace, state);

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
