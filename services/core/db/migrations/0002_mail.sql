-- Mails as read_email understood them, and where each source has been read up to.
-- depends: 0001_bus

CREATE TABLE inbox_positions (
    workspace   text NOT NULL,
    inbox       text NOT NULL,
    folder      text NOT NULL,
    uidvalidity bigint NOT NULL,
    last_uid    bigint NOT NULL,
    begun_at    timestamptz NOT NULL,
    PRIMARY KEY (workspace, inbox, folder)
);
COMMENT ON COLUMN inbox_positions.begun_at IS 'When the inbox was added: mail that the server had before is not ours to answer.';

CREATE TABLE mails (
    mail_id        uuid PRIMARY KEY,
    workspace      text NOT NULL,
    thread_id      uuid NOT NULL,
    participant_id uuid,
    inbox          text NOT NULL,
    mode           text NOT NULL,
    blob           text NOT NULL,
    message_id     text NOT NULL,
    content_sha256 text NOT NULL,
    subject        text NOT NULL,
    author_name    text NOT NULL,
    author_addr    text NOT NULL,
    recipients     text[] NOT NULL,
    references_ids text[] NOT NULL,
    received_at    timestamptz NOT NULL,
    sent_at        timestamptz,
    text           text NOT NULL,
    language       text NOT NULL,
    identity       text NOT NULL,
    trusted        boolean NOT NULL,
    verdict        text NOT NULL,
    reason         text NOT NULL,
    filter         text NOT NULL,
    flags          text[] NOT NULL
);
CREATE INDEX mails_by_thread ON mails (thread_id, received_at);
CREATE INDEX mails_by_author ON mails (workspace, author_addr, received_at);
CREATE INDEX mails_by_message_id ON mails (workspace, message_id);
CREATE INDEX mails_by_time ON mails (workspace, received_at);
CREATE INDEX mails_by_content ON mails (workspace, content_sha256);

-- Which threads hold or await a Message-ID. Ids that a mail refers to and that nobody holds yet stand here too, so
-- that the order of arrival does not matter. Several threads may await one id; placing decides between them.
CREATE TABLE message_threads (
    workspace  text NOT NULL,
    message_id text NOT NULL,
    thread_id  uuid NOT NULL,
    PRIMARY KEY (workspace, message_id, thread_id)
);
CREATE INDEX message_threads_by_thread ON message_threads (thread_id);
