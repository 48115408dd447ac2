-- Teams: people who share a queue of threads.
-- depends: 1112_models_and_thumbs

CREATE TABLE teams (
    team_id   uuid PRIMARY KEY,
    workspace text NOT NULL,
    name      text NOT NULL,
    name_key  text NOT NULL,
    members   uuid[] NOT NULL,
    inboxes   text[] NOT NULL
);
CREATE UNIQUE INDEX teams_by_name ON teams (workspace, name_key);
COMMENT ON TABLE teams IS 'People who share a queue of threads. A thread is assigned to a team by its name, which no user has.';
COMMENT ON COLUMN teams.name_key IS 'The name as it is compared: NFKC, case folded.';
COMMENT ON COLUMN teams.members IS 'Users, by their ids; who is removed is in no team.';
COMMENT ON COLUMN teams.inboxes IS 'Names of inboxes; what needs a person there and is nobody''s is in the queue.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
