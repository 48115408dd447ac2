-- What receive_email remembers of what it let in.
-- depends: 0002_mail

CREATE TABLE receipts (
    mail_id     uuid PRIMARY KEY,
    workspace   text NOT NULL,
    inbox       text NOT NULL,
    fingerprint text NOT NULL
);
CREATE INDEX receipts_by_fingerprint ON receipts (workspace, inbox, fingerprint);
COMMENT ON TABLE receipts IS 'Message-ID and body of every mail let in, hashed: a folder that lost its UIDs is read again without repeating a mail.';

CREATE TABLE webhook_requests (
    workspace  text NOT NULL,
    format     text NOT NULL,
    request_id text NOT NULL,
    binding    text NOT NULL,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (workspace, format, request_id)
);
CREATE INDEX webhook_requests_by_age ON webhook_requests (seen_at);
COMMENT ON TABLE webhook_requests IS 'Ids of signed requests and what each was first used for: one used for something else is a replay.';

CREATE TABLE unfetched_mails (
    workspace   text NOT NULL,
    inbox       text NOT NULL,
    folder      text NOT NULL,
    uidvalidity bigint NOT NULL,
    uid         bigint NOT NULL,
    attempts    int NOT NULL,
    error       text NOT NULL,
    tried_at    timestamptz NOT NULL,
    PRIMARY KEY (workspace, inbox, folder, uidvalidity, uid)
);
COMMENT ON TABLE unfetched_mails IS 'Mails that the IMAP server would not hand over; tried again at each new connection, and shown to a person.';
