-- What is kept for a time only: where a text is gone, which blobs were removed, and when the house last saw to it.
-- depends: 0092_letter_decisions

ALTER TABLE conversation ADD COLUMN gone_at timestamptz;
COMMENT ON COLUMN conversation.gone_at IS 'Since when the text is kept no longer; the row stays, with nothing in it.';
CREATE INDEX conversation_by_age ON conversation (workspace, at) WHERE gone_at IS NULL;

ALTER TABLE mails ADD COLUMN gone_at timestamptz;
COMMENT ON COLUMN mails.gone_at IS 'Since when its text, and that of its attachments, is kept no longer.';
CREATE INDEX mails_by_age ON mails (workspace, received_at) WHERE gone_at IS NULL;

CREATE TABLE removed_blobs (
    owner      uuid PRIMARY KEY,
    workspace  text NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('mail', 'reply')),
    removed_at timestamptz NOT NULL
);
COMMENT ON TABLE removed_blobs IS 'Mails whose raw bytes and attachments, and replies whose MIME, retention has taken from the blob store.';

CREATE TABLE upkeep (
    workspace text NOT NULL,
    task      text NOT NULL,
    begun_at  timestamptz NOT NULL,
    done_at   timestamptz,
    report    jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (workspace, task)
);
COMMENT ON TABLE upkeep IS 'What the house does daily by itself: when it last began, when it last came to its end, and what it did.';

ALTER TABLE archives
    ADD COLUMN former text NOT NULL DEFAULT '',
    ADD COLUMN emptied text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN archives.former IS 'A file that this one stands in for, and that has yet to be removed.';
COMMENT ON COLUMN archives.emptied IS 'Of which workspace, and of what, nothing is left in it that retention would take.';

CREATE INDEX checkpoints_by_storing ON checkpoints USING brin (stored_at);

CREATE FUNCTION thread_rests(thread uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM threads t
                       WHERE t.thread_id = thread AND (t.open_turn IS NOT NULL OR t.state = 'escalated'))
       AND NOT EXISTS (SELECT FROM conversation c WHERE c.thread_id = thread AND c.pending)
       AND NOT EXISTS (SELECT FROM deliveries d
                       WHERE d.thread_id = thread
                         AND (d.state IN ('draft', 'approved', 'sending', 'unknown') OR d.sent_copy = 'waiting'))
$$;
COMMENT ON FUNCTION thread_rests IS 'Nobody needs what was said in a thread right now: no turn is open, no mail waits, no person has it, no reply is under way.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
