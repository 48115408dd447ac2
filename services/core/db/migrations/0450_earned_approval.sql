-- Drafts have an intent and a score; what people make of them is counted by inbox and intent, and approval can be earned.
-- depends: 0340_answers

ALTER TABLE deliveries ADD COLUMN intent text NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN score real;
ALTER TABLE deliveries ADD COLUMN floors text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN deliveries.intent IS 'Of the mail, as the model named it; empty: nothing is learned from what becomes of the reply.';
COMMENT ON COLUMN deliveries.score IS 'How well the draft rests on its context, 0 to 1.';
COMMENT ON COLUMN deliveries.floors IS 'What makes a person look, whatever the score.';

CREATE TABLE approvals (
    approval_id  uuid PRIMARY KEY,
    workspace    text NOT NULL,
    inbox        text NOT NULL,
    intent       text NOT NULL,
    is_open      boolean NOT NULL DEFAULT false,
    counted_from timestamptz,
    changed_at   timestamptz,
    changed_by   text NOT NULL DEFAULT '',
    reason       text NOT NULL DEFAULT '',
    UNIQUE (workspace, inbox, intent)
);
COMMENT ON COLUMN approvals.counted_from IS 'Decisions of before count no more: it was closed then.';

CREATE TABLE approval_outcomes (
    approval_id uuid NOT NULL,
    reply_id    uuid NOT NULL,
    outcome     text NOT NULL,
    workspace   text NOT NULL,
    edited      real NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (approval_id, reply_id, outcome)
);
CREATE INDEX approval_outcomes_by_time ON approval_outcomes (approval_id, at DESC, reply_id DESC);

CREATE TABLE approval_patterns (
    approval_id uuid NOT NULL,
    type        text NOT NULL,
    workspace   text NOT NULL,
    data        jsonb NOT NULL,
    occurrences int  NOT NULL,
    last_seen   timestamptz NOT NULL,
    PRIMARY KEY (approval_id, type)
);
COMMENT ON COLUMN approval_patterns.type IS 'What became of drafts: unchanged, edited, rejected, answered_by_hand, reopened, held.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
