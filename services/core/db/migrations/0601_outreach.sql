-- Mail that we begin: what was proposed to whom and what came of it, and who wants none.
-- depends: 0600_incidents

CREATE TABLE outreach (
    outreach_id    uuid PRIMARY KEY,
    book_id        uuid NOT NULL,
    workspace      text NOT NULL,
    inbox          text NOT NULL,
    participant_id uuid NOT NULL,
    thread_id      uuid NOT NULL,
    turn_id        uuid NOT NULL,
    rule           text NOT NULL,
    reason         text NOT NULL,
    proposed_at    timestamptz NOT NULL,
    state          text NOT NULL DEFAULT 'proposed',
    changed_at     timestamptz NOT NULL,
    sent_at        timestamptz
);
CREATE INDEX outreach_of_person ON outreach (participant_id, proposed_at DESC);
CREATE INDEX outreach_of_thread ON outreach (thread_id);
CREATE INDEX outreach_by_day ON outreach (workspace, inbox, proposed_at DESC);
COMMENT ON COLUMN outreach.outreach_id IS 'Of its draft in deliveries, too, whose turn is turn_id.';

CREATE TABLE unsubscribes (
    participant_id uuid PRIMARY KEY,
    book_id        uuid NOT NULL,
    workspace      text NOT NULL,
    outreach_id    uuid,
    how            text NOT NULL,
    at             timestamptz NOT NULL
);

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
