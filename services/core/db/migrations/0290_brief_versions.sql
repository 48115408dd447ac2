-- A brief knows what it was written from and by whom; what another turn wrote of the same meanwhile is kept beside it.
-- depends: 0275_done_by_type

ALTER TABLE briefs ADD COLUMN bases text[] NOT NULL DEFAULT '{}', ADD COLUMN by text NOT NULL DEFAULT '';

CREATE TABLE brief_divergences (
    participant_id uuid NOT NULL,
    version        int  NOT NULL,
    workspace      text NOT NULL,
    text           text NOT NULL,
    bases          text[] NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (participant_id, version)
);
COMMENT ON TABLE brief_divergences IS
'Briefs that were written from one that had been overtaken; the next reflection is shown them and merges them.';

CREATE FUNCTION brief_version(text text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT encode(sha256(convert_to(text, 'UTF8')), 'hex')
$$;
COMMENT ON FUNCTION brief_version IS 'The name of a brief: the hash of its text.';

CREATE FUNCTION person_briefs(who uuid)
RETURNS TABLE (version text, text text, bases text[], by text, written_at timestamptz, shown boolean)
LANGUAGE sql STABLE AS $$
    WITH kept AS (
        SELECT b.text, b.bases, b.by, b.updated_at, false AS beside
        FROM briefs b WHERE b.participant_id = ANY((SELECT person_ids(who))::uuid[])
        UNION ALL
        SELECT d.text, d.bases, '', d.updated_at, true
        FROM brief_divergences d WHERE d.participant_id = ANY((SELECT person_ids(who))::uuid[])),
    named AS (
        SELECT DISTINCT ON (brief_version(k.text)) brief_version(k.text) AS version, k.*
        FROM kept k ORDER BY brief_version(k.text), k.beside, k.updated_at DESC),
    judged AS (
        SELECT n.*, n.text <> '' AND NOT EXISTS (
            SELECT FROM kept later WHERE n.version = ANY(later.bases) AND later.updated_at >= n.updated_at
              AND later.text <> n.text) AS shown
        FROM named n)
    SELECT j.version, j.text, j.bases, j.by, j.updated_at, j.shown FROM judged j
    ORDER BY j.shown DESC, j.by <> '' DESC, j.beside, j.updated_at DESC, j.version
$$;
COMMENT ON FUNCTION person_briefs IS
'The briefs of a person under all of their addresses: first the one that holds, then what is still to be merged into it; not shown is what a later one was written from, or what is empty.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
