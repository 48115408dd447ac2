-- Views of the inbox that a user keeps under a name of their own.
-- depends: 0750_snoozed_threads

CREATE TABLE saved_views (
    workspace text NOT NULL,
    user_id   uuid NOT NULL REFERENCES users,
    name      text NOT NULL,
    view      text NOT NULL,
    inbox     text NOT NULL DEFAULT '',
    priority  text NOT NULL DEFAULT '',
    tag       text NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, name)
);
COMMENT ON TABLE saved_views IS 'Views of the inbox that users keep under a name; whose user was removed has none.';
COMMENT ON COLUMN saved_views.view IS 'Who has to act next, as in the inbox; with inbox, priority and tag of the threads, empty: all.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
