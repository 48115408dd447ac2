-- Who outside of the house is told that a person is needed: what waits in each channel, and the mails and calls in which it went.
-- depends: 0092_letter_decisions

CREATE TABLE alerts (
    alert_id   uuid PRIMARY KEY,
    channel_id uuid NOT NULL,
    workspace  text NOT NULL,
    call_id    uuid NOT NULL,
    thread_id  uuid NOT NULL,
    kind       text NOT NULL,
    raised_at  timestamptz NOT NULL,
    digest_id  uuid
);
CREATE INDEX alerts_waiting ON alerts (channel_id, raised_at) WHERE digest_id IS NULL;
CREATE INDEX alerts_by_digest ON alerts (digest_id);
COMMENT ON TABLE alerts IS 'Ids alone: what is told of a call is read from its event when it is told.';

CREATE TABLE alert_digests (
    digest_id  uuid PRIMARY KEY,
    channel_id uuid NOT NULL,
    workspace  text NOT NULL,
    state      text NOT NULL CHECK (state IN ('grouped', 'sent', 'failed')),
    attempt    int NOT NULL DEFAULT 0,
    message_id text NOT NULL,
    detail     text NOT NULL DEFAULT '',
    grouped_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    retry_at   timestamptz
);
CREATE INDEX alert_digests_by_channel ON alert_digests (channel_id, grouped_at);
COMMENT ON TABLE alert_digests IS 'Alerts that go out together; every attempt carries the same id. Times are of the wall clock.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
