-- What people keep of a participant, apart from what the agent learned.
-- depends: 0070_thread_marks

CREATE TABLE participant_profile (
    participant_id uuid NOT NULL,
    field          text NOT NULL,
    workspace      text NOT NULL,
    value          text NOT NULL,
    by             text NOT NULL,
    reason         text NOT NULL,
    at             timestamptz NOT NULL,
    cause          uuid,
    PRIMARY KEY (workspace, participant_id, field)
);
COMMENT ON TABLE participant_profile IS 'Operator-owned: no mail and no model writes here.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
