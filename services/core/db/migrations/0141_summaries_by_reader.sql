-- A summary is what one person and we have said in a thread: two people in it have one each, and so has whoever only
-- claims to be one of them. Goals and actions are of whom they are about.
-- depends: 0140_turns_of_one_author

ALTER TABLE thread_summaries ADD COLUMN participant_id uuid, ADD COLUMN trusted boolean NOT NULL DEFAULT true;
UPDATE thread_summaries s SET participant_id = t.participant_id FROM threads t WHERE t.thread_id = s.thread_id;
ALTER TABLE thread_summaries DROP CONSTRAINT thread_summaries_pkey;
ALTER TABLE thread_summaries
    ADD CONSTRAINT thread_summaries_of_one UNIQUE NULLS NOT DISTINCT (thread_id, participant_id, trusted);
CREATE INDEX thread_summaries_by_participant ON thread_summaries (participant_id, updated_at);
COMMENT ON COLUMN thread_summaries.trusted IS 'Whether it is certain that it was they who wrote.';

ALTER TABLE goals ADD COLUMN participant_id uuid;
ALTER TABLE thread_actions ADD COLUMN participant_id uuid;
UPDATE goals g SET participant_id = t.participant_id FROM threads t WHERE t.thread_id = g.thread_id;
UPDATE thread_actions a SET participant_id = t.participant_id FROM threads t WHERE t.thread_id = a.thread_id;
