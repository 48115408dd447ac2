-- Where copies of the keys of data subjects lie, and when each goes.
-- depends: 0130_settled_letters

CREATE TABLE key_copies (
    path     text PRIMARY KEY,
    taken_at timestamptz NOT NULL,
    until    timestamptz NOT NULL
);
COMMENT ON TABLE key_copies IS 'Files that `backup --keys-to` wrote. With one of them a back-up can be read, erased people included; not in any back-up.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
