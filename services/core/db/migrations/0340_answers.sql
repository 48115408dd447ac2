-- A person answers a thread themselves: who has it, whose turn it is, and who wrote.
-- depends: 0290_brief_versions

ALTER TABLE threads ADD COLUMN assignee text NOT NULL DEFAULT '';
COMMENT ON COLUMN threads.assignee IS 'The person who has the thread; empty: nobody in particular.';

ALTER TABLE turns ADD COLUMN by text NOT NULL DEFAULT '';
COMMENT ON COLUMN turns.by IS 'The person whose own reply this turn is; empty: the agent''s.';

ALTER TABLE conversation ADD COLUMN by text NOT NULL DEFAULT '';
COMMENT ON COLUMN conversation.by IS 'The person who wrote this reply through Correspondent; empty for everything else.';
