-- Archived events are not rewritten: what others wrote in them, sealed anew after an erase, stands here.
-- depends: 0040_keys

CREATE TABLE resealed_events (
    event_id  uuid PRIMARY KEY,
    workspace text NOT NULL,
    data      jsonb NOT NULL
);
COMMENT ON TABLE resealed_events IS 'Data of archived events, in the place of what the file holds: its key was destroyed because it named somebody who was erased.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
