-- A note may name colleagues, who find its thread by that.
-- depends: 0750_snoozed_threads

ALTER TABLE thread_notes ADD COLUMN mentions text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN thread_notes.mentions IS 'Names of the users whom the note asks to look; a name is never given to another user.';
CREATE INDEX thread_notes_mentions ON thread_notes USING gin (mentions) WHERE mentions <> '{}';
