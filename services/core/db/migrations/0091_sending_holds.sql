-- A house that was restored sends nothing until a person says so: it does not know what it sent after the back-up.
-- depends: 0090_archive

CREATE TABLE sending_holds (
    workspace text PRIMARY KEY,
    since     timestamptz NOT NULL,
    taken_at  timestamptz NOT NULL,
    reason    text NOT NULL
);
COMMENT ON TABLE sending_holds IS 'Workspaces that send nothing. Replies approved before taken_at may have left since, and become unknown.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
