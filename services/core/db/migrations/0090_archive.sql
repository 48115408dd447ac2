-- Old events leave the table for compressed files; what left, and how to know each file again.
-- depends: 0030_workspaces

CREATE TABLE archives (
    number          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    file            text NOT NULL UNIQUE,
    place           text NOT NULL,
    day             date NOT NULL,
    events          int NOT NULL,
    kinds           jsonb NOT NULL,
    first_seq       bigint NOT NULL,
    last_seq        bigint NOT NULL,
    last_stored_at  timestamptz NOT NULL,
    bytes           bigint NOT NULL,
    sha256          text NOT NULL,
    archived_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE archives IS
'The files that hold events which are no longer in the table. A file that is not named here holds nothing that counts.';
COMMENT ON COLUMN archives.place IS 'A URL; empty: where the setting archive.url says.';
COMMENT ON COLUMN archives.kinds IS 'How many of the events changed an aggregate of each kind.';
COMMENT ON COLUMN archives.sha256 IS 'Of the compressed file, in hex.';

CREATE INDEX events_by_storing ON events USING brin (stored_at);

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
