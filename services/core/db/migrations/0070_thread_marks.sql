-- What is put on a thread beside its mails: priority, tags, notes, deadlines; and who did what, because of what.
-- depends: 0030_workspaces

ALTER TABLE threads ADD COLUMN priority text NOT NULL DEFAULT 'normal'
    CHECK (priority IN ('low', 'normal', 'high', 'urgent'));
ALTER TABLE threads ADD COLUMN tags text[] NOT NULL DEFAULT '{}';
CREATE INDEX threads_by_tag ON threads USING gin (tags);

ALTER TABLE thread_actions ADD COLUMN trigger text NOT NULL DEFAULT 'system';
ALTER TABLE thread_actions ADD COLUMN cause uuid;

CREATE TABLE thread_notes (
    note_id   uuid PRIMARY KEY,
    thread_id uuid NOT NULL,
    workspace text NOT NULL,
    at        timestamptz NOT NULL,
    by        text NOT NULL,
    trigger   text NOT NULL,
    text      text NOT NULL,
    cause     uuid
);
CREATE INDEX thread_notes_by_thread ON thread_notes (thread_id, at);
COMMENT ON TABLE thread_notes IS 'For people: a colleague''s note, or what the agent suggests. Never sent.';

CREATE TABLE thread_deadlines (
    thread_id uuid NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('first_response', 'next_response', 'resolution')),
    workspace text NOT NULL,
    status    text NOT NULL CHECK (status IN ('running', 'paused', 'met', 'dropped', 'breached')),
    since     timestamptz NOT NULL,
    allowed_s double precision NOT NULL,
    due_at    timestamptz,
    left_s    double precision,
    priority  text NOT NULL,
    reason    text NOT NULL,
    at        timestamptz NOT NULL,
    cause     uuid,
    PRIMARY KEY (thread_id, kind)
);
CREATE INDEX thread_deadlines_open ON thread_deadlines (workspace, due_at) WHERE status IN ('running', 'breached');
COMMENT ON TABLE thread_deadlines IS 'The newest clock of each kind; earlier ones are in the events.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
