-- What the agent keeps in mind of a person's matter in a thread, from one turn to the next.
-- depends: 0760_cited_facts

CREATE TABLE thread_entities (
    thread_id      uuid NOT NULL,
    participant_id uuid NOT NULL,
    name           text NOT NULL,
    workspace      text NOT NULL,
    value          text NOT NULL,
    version        int  NOT NULL,
    noted_at       timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (thread_id, participant_id, name)
);
CREATE INDEX thread_entities_of_participant ON thread_entities (participant_id);
COMMENT ON TABLE thread_entities IS 'Working memory: what the agent keeps in mind by name in a thread, of one person, until a moment.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
