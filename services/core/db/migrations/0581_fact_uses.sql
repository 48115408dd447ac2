-- What facts were used for is counted, so that those of little weight that nobody asks for may leave the prompt.
-- depends: 0580_memory_periods

CREATE TABLE fact_uses (
    fact_id        uuid PRIMARY KEY,
    participant_id uuid NOT NULL,
    workspace      text NOT NULL,
    shown          int NOT NULL,
    asked          int NOT NULL,
    shown_at       timestamptz,
    asked_at       timestamptz
);
CREATE INDEX fact_uses_of_participant ON fact_uses (participant_id);
COMMENT ON TABLE fact_uses IS 'How often a fact stood in the context of a reply, and how often it was what memory answered to a question of a mail. Counted daily from stored events; bookkeeping, outside of every state hash.';

CREATE TABLE fact_uses_counted (
    workspace text PRIMARY KEY,
    seq       bigint NOT NULL
);
COMMENT ON TABLE fact_uses_counted IS 'How far the stored contexts are counted.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
