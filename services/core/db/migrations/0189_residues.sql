-- Where bytes of deleted rows may still lie on disk after an erase, until the file is written anew.
-- depends: 0171_mails_of_a_person

CREATE TABLE residues (
    place      text PRIMARY KEY,
    filenode   bigint,
    asked_at   timestamptz NOT NULL,
    cleared_at timestamptz
);
COMMENT ON TABLE residues IS 'Tables that were not rewritten, and a write-ahead log that was not recycled, since a person was erased. Not in any back-up.';
COMMENT ON COLUMN residues.place IS 'The name of a table, or pg_wal.';
COMMENT ON COLUMN residues.filenode IS 'The file of the table at the erase: while it is the same, deleted rows may lie in it.';

-- Who was erased before this table was there left bytes as well: the next scrub clears them.
INSERT INTO residues (place, filenode, asked_at)
SELECT places.place, places.filenode, clock_timestamp() FROM (
    SELECT c.relname::text AS place, pg_relation_filenode(c.oid)::bigint AS filenode FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
      AND c.relname NOT IN ('events', 'resealed_events', 'residues') AND position('yoyo' IN c.relname) = 0
    UNION ALL SELECT 'pg_wal', NULL) AS places
WHERE EXISTS (SELECT 1 FROM erasures);

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
