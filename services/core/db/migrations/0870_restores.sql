-- Bringing the facts of a whole workspace back to a moment: looked at first, confirmed, then done person by person.
-- depends: 0850_webhook_endpoints

CREATE TABLE restores (
    restore_id   uuid PRIMARY KEY,
    workspace    text NOT NULL,
    at           timestamptz NOT NULL,
    by           text NOT NULL,
    asked_at     timestamptz NOT NULL,
    state        text NOT NULL DEFAULT 'looking' CHECK (state IN ('looking', 'looked', 'restoring', 'done', 'stopped')),
    people       int NOT NULL,
    reached      int NOT NULL DEFAULT 0,
    place        uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    changed      int NOT NULL DEFAULT 0,
    kinds        jsonb NOT NULL DEFAULT '{}',
    sample       uuid[] NOT NULL DEFAULT '{}',
    confirmed_by text NOT NULL DEFAULT '',
    confirmed_at timestamptz,
    facts        int NOT NULL DEFAULT 0,
    refused      int NOT NULL DEFAULT 0,
    waits        text NOT NULL DEFAULT '',
    ended_by     text NOT NULL DEFAULT '',
    ended_at     timestamptz
);
CREATE UNIQUE INDEX restores_one_at_a_time ON restores (workspace) WHERE ended_at IS NULL;
COMMENT ON TABLE restores IS 'Restores of all memory of a workspace to the moment `at`: what was counted, who confirmed it, and how far it is.';
COMMENT ON COLUMN restores.place IS 'The last person who was looked at, or brought back: people are gone through by id.';
COMMENT ON COLUMN restores.changed IS 'How many people have facts that came or went since `at`, when it was looked at.';
COMMENT ON COLUMN restores.kinds IS 'Of each kind of fact how many came since, and how many are gone: {"customer_info": [3, 1]}.';
COMMENT ON COLUMN restores.sample IS 'The first of these people, by id alone: what is known of them is read when it is shown.';
COMMENT ON COLUMN restores.facts IS 'How many requests about facts were granted; refused: how many were not.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
