-- Investigations of a participant: what was asked, where it stands, the note, what is proposed, and what the next one finds
-- again. The folder itself, and each round of the model, are sealed events.
-- depends: 0850_webhook_endpoints

CREATE TABLE investigations (
    investigation_id uuid PRIMARY KEY,
    participant_id   uuid NOT NULL,
    workspace        text NOT NULL,
    of_thread        uuid NOT NULL,
    state            text NOT NULL CHECK (state IN ('open', 'closed')),
    question         text NOT NULL,
    by               text NOT NULL,
    opened_at        timestamptz NOT NULL,
    opened_version   int NOT NULL,
    outcome          text NOT NULL DEFAULT '',
    reason           text NOT NULL DEFAULT '',
    note             text NOT NULL DEFAULT '',
    diff             text NOT NULL DEFAULT '',
    outputs          jsonb NOT NULL DEFAULT '[]',
    conflicts        text[] NOT NULL DEFAULT '{}',
    dropped          text[] NOT NULL DEFAULT '{}',
    rounds           int NOT NULL DEFAULT 0,
    tokens_in        bigint NOT NULL DEFAULT 0,
    tokens_out       bigint NOT NULL DEFAULT 0,
    closed_at        timestamptz,
    gone_at          timestamptz
);
CREATE INDEX investigations_by_participant ON investigations (participant_id, opened_at);
CREATE INDEX investigations_by_thread ON investigations (of_thread);
CREATE INDEX investigations_by_time ON investigations (workspace, opened_at);
COMMENT ON TABLE investigations IS 'A hard case that a person has the agent work on with files; each ends in a note.';
COMMENT ON COLUMN investigations.of_thread IS 'The thread that it was asked for in. The row goes with its participant, not with others of the thread: it holds nothing of theirs.';
COMMENT ON COLUMN investigations.opened_version IS 'The version of its opening among the participant''s investigations: its rounds come after it.';
COMMENT ON COLUMN investigations.gone_at IS 'When its words had had their time; they are empty since then.';

CREATE TABLE investigation_proposals (
    proposal_id      uuid PRIMARY KEY,
    investigation_id uuid NOT NULL,
    participant_id   uuid NOT NULL,
    workspace        text NOT NULL,
    place            int NOT NULL,
    content          jsonb NOT NULL,
    state            text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'accepted', 'rejected')),
    decided_by       text NOT NULL DEFAULT '',
    decided_at       timestamptz,
    request_id       uuid
);
CREATE INDEX investigation_proposals_by_investigation ON investigation_proposals (investigation_id, place);
CREATE INDEX investigation_proposals_by_participant ON investigation_proposals (participant_id);
COMMENT ON TABLE investigation_proposals IS 'What investigations propose to change in memory, until a person decides.';
COMMENT ON COLUMN investigation_proposals.request_id IS 'The request of learn_facts that an acceptance became.';

CREATE TABLE investigation_files (
    participant_id   uuid NOT NULL,
    path             text NOT NULL,
    workspace        text NOT NULL,
    text             text NOT NULL,
    investigation_id uuid NOT NULL,
    at               timestamptz NOT NULL,
    PRIMARY KEY (participant_id, path)
);
COMMENT ON TABLE investigation_files IS 'What a person''s next investigation finds again: the scratchpad and skills, merged.';
COMMENT ON COLUMN investigation_files.investigation_id IS 'The investigation that wrote it last, with whose words it goes.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
