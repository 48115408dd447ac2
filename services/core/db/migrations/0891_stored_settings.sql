-- Settings that were changed while the deployment runs: each change with who made it and when, laid over the file's.
-- depends: 0890_unanswered_questions

CREATE TABLE settings_changes (
    workspace text NOT NULL,
    version   int NOT NULL,
    name      text NOT NULL,
    is_set    boolean NOT NULL,
    value     jsonb,
    at        timestamptz NOT NULL,
    by        text NOT NULL,
    reason    text NOT NULL,
    undoes    int,
    PRIMARY KEY (workspace, version, name)
);
CREATE INDEX settings_changes_by_name ON settings_changes (workspace, name, version DESC);
COMMENT ON TABLE settings_changes IS 'Every change of a setting by a person. The newest row of a name holds: its value, or (is_set false) the file''s again.';
COMMENT ON COLUMN settings_changes.version IS 'Counts the changes of the workspace; one change may be of several settings.';
COMMENT ON COLUMN settings_changes.undoes IS 'The change that this one takes back.';

CREATE FUNCTION announce_settings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('settings_changed', '');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION announce_settings IS 'Postgres announces with the commit: what is stored is announced, or neither is.';
CREATE TRIGGER settings_changes_announced AFTER INSERT ON settings_changes FOR EACH STATEMENT EXECUTE FUNCTION announce_settings();

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
