-- The ledger of replies, kept by send_email.
-- depends: 0003_threads

CREATE TABLE deliveries (
    reply_id      uuid PRIMARY KEY,
    workspace     text NOT NULL,
    thread_id     uuid NOT NULL,
    turn_id       uuid NOT NULL,
    inbox         text NOT NULL,
    state         text NOT NULL CHECK (state IN
                      ('draft', 'approved', 'sending', 'sent', 'unknown', 'failed', 'bounced', 'discarded')),
    message_id    text,
    blob          text,
    recipient     text,
    envelope_from text,
    attempt       int  NOT NULL DEFAULT 0,
    detail        text NOT NULL DEFAULT '',
    retry_at      timestamptz,
    created_at    timestamptz NOT NULL,
    changed_at    timestamptz NOT NULL
);
CREATE INDEX deliveries_by_turn ON deliveries (turn_id);
CREATE INDEX deliveries_by_thread ON deliveries (thread_id);
CREATE UNIQUE INDEX deliveries_by_message_id ON deliveries (workspace, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (workspace, state);

CREATE TABLE delivery_attempts (
    reply_id  uuid NOT NULL,
    version   int  NOT NULL,
    workspace text NOT NULL,
    at        timestamptz NOT NULL,
    attempt   int  NOT NULL,
    result    text NOT NULL,
    detail    text NOT NULL,
    PRIMARY KEY (reply_id, version)
);

CREATE TABLE suppressions (
    workspace text NOT NULL,
    addr      text NOT NULL,
    reason    text NOT NULL,
    mail_id   uuid NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (workspace, addr)
);
