-- Workspaces do not see each other: within a unit of work Postgres itself filters every row by its workspace.
-- depends: 0011_provenance 0020_inboxes 0021_sending

-- Nobody logs in as this role; a transaction that is bound to a workspace takes it (services/core/db/pool.py). The
-- user that migrates owns the tables and stays outside: migrations, timers and operators' tools see all workspaces.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'correspondent_app') THEN
        CREATE ROLE correspondent_app NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;

DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'correspondent_app', 'SET') THEN
        GRANT correspondent_app TO CURRENT_USER;
    END IF;
END $$;

CREATE FUNCTION guard_workspaces() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    bare text;
BEGIN
    FOR bare IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
          AND a.attname = 'workspace' AND NOT a.attisdropped AND NOT c.relrowsecurity
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', bare);
        EXECUTE format('CREATE POLICY own_workspace ON %I TO correspondent_app '
                       'USING (workspace = current_setting(''app.workspace'', true))', bare);
    END LOOP;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO correspondent_app', current_schema());
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO correspondent_app', current_schema());
    EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO correspondent_app', current_schema());
END $$;

COMMENT ON FUNCTION guard_workspaces IS
'Puts the policy on every table with a workspace that has none yet. A migration that makes a table calls it at its end.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
