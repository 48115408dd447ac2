-- Which model wrote a reply, and what colleagues think of replies that left.
-- depends: 1111_keys_of_users

ALTER TABLE deliveries ADD COLUMN model text NOT NULL DEFAULT '';
COMMENT ON COLUMN deliveries.model IS 'The model that wrote the draft; empty: a person or a fixed text, or an earlier release.';

CREATE TABLE reply_thumbs (
    reply_id  uuid NOT NULL,
    by        text NOT NULL,
    workspace text NOT NULL,
    good      boolean NOT NULL,
    reason    text NOT NULL,
    inbox     text NOT NULL,
    intent    text NOT NULL,
    model     text NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (reply_id, by)
);
CREATE INDEX reply_thumbs_by_time ON reply_thumbs (workspace, at);
COMMENT ON TABLE reply_thumbs IS 'What people in the team think of a reply of the agent that left: a word of a list, and nobody''s own words.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
