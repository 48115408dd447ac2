-- Keys by data subject, and what was erased. Both stand outside every rebuild and every state hash, and are backed up
-- apart from the rest, for a short time only: a copy of the keys undoes an erase.
-- depends: 0030_workspaces

CREATE TABLE subject_keys (
    key_id    uuid PRIMARY KEY,
    workspace text NOT NULL,
    subject   uuid NOT NULL,
    owners    uuid[] NOT NULL,
    master    text NOT NULL,
    wrapped   bytea NOT NULL,
    made_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (workspace, subject)
);
CREATE INDEX subject_keys_by_owner ON subject_keys USING gin (owners);
COMMENT ON TABLE subject_keys IS 'AES-256 keys, each wrapped by a master key that is kept outside the database. A deleted row is an erased person.';
COMMENT ON COLUMN subject_keys.subject IS 'What the key is found by: a participant, a mail whose author is not known yet, or an id made of several participants.';
COMMENT ON COLUMN subject_keys.owners IS 'The people whose words it may seal: the erase of any of them destroys it.';

CREATE TABLE blanked_threads (
    workspace text NOT NULL,
    thread_id uuid NOT NULL,
    upto      int NOT NULL,
    PRIMARY KEY (workspace, thread_id)
);
COMMENT ON TABLE blanked_threads IS 'Threads in which others go on after one of theirs was erased: events up to this version that cannot be read still count, without their texts.';

CREATE TABLE erasures (
    erasure_id     uuid PRIMARY KEY,
    workspace      text NOT NULL,
    participant_id uuid NOT NULL,
    by             text NOT NULL,
    at             timestamptz NOT NULL,
    blobs          text[] NOT NULL,
    cached         text[] NOT NULL,
    finished_at    timestamptz
);
COMMENT ON TABLE erasures IS 'Who was erased, by whom, when; until finished_at, `blobs` and `cached` (ids that keys of the cache name) say what is left to clear outside the database.';

CREATE TABLE erased_suppressions (
    workspace text NOT NULL,
    mark      text NOT NULL,
    reason    text NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (workspace, mark)
);
COMMENT ON COLUMN erased_suppressions.mark IS 'Keyed hash of the address: tells whether a known address is the one, never which one it is.';

CREATE INDEX events_by_data_key ON events ((data ->> '$key')) WHERE data ? '$key';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
