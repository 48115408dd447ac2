-- What an operator decided about a dead letter, and why.
-- depends: 0091_sending_holds

CREATE TABLE letter_decisions (
    letter_id  uuid PRIMARY KEY,
    state      text NOT NULL CHECK (state IN ('redriven', 'discarded')),
    reason     text NOT NULL,
    decided_at timestamptz NOT NULL
);
COMMENT ON TABLE letter_decisions IS 'Dead letters that wait no longer. The records themselves stay on their topics.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
