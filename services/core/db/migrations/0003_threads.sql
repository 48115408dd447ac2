-- Threads as track_threads keeps them.
-- depends: 0002_mail

CREATE TABLE threads (
    thread_id      uuid PRIMARY KEY,
    workspace      text NOT NULL,
    participant_id uuid,
    inbox          text NOT NULL,
    subject        text NOT NULL,
    state          text NOT NULL CHECK (state IN
                       ('new', 'in_progress', 'awaiting_reply', 'escalated', 'resolved', 'closed')),
    open_turn      uuid,
    linked_from    uuid,
    opened_at      timestamptz NOT NULL,
    changed_at     timestamptz NOT NULL
);
CREATE INDEX threads_by_participant ON threads (workspace, participant_id);
CREATE INDEX threads_by_state ON threads (workspace, state);

CREATE TABLE turns (
    turn_id       uuid PRIMARY KEY,
    workspace     text NOT NULL,
    thread_id     uuid NOT NULL,
    mail_ids      uuid[] NOT NULL,
    opened_at     timestamptz NOT NULL,
    waiting_since timestamptz NOT NULL,
    outcome       text,
    reason        text NOT NULL DEFAULT '',
    reply_id      uuid,
    closed_at     timestamptz
);
CREATE INDEX turns_by_thread ON turns (thread_id, opened_at);
CREATE UNIQUE INDEX turns_one_open ON turns (thread_id) WHERE closed_at IS NULL;

CREATE TABLE conversation (
    thread_id uuid NOT NULL,
    version   int  NOT NULL,
    workspace text NOT NULL,
    role      text NOT NULL CHECK (role IN ('customer', 'agent', 'human')),
    mail_id   uuid,
    reply_id  uuid,
    text      text NOT NULL,
    tokens    int  NOT NULL,
    trusted   boolean NOT NULL,
    pending   boolean NOT NULL DEFAULT false,
    at        timestamptz NOT NULL,
    PRIMARY KEY (thread_id, version)
);
CREATE INDEX conversation_pending ON conversation (thread_id) WHERE pending;

CREATE TABLE goals (
    goal_id   uuid PRIMARY KEY,
    thread_id uuid NOT NULL,
    workspace text NOT NULL,
    text      text NOT NULL,
    added_at  timestamptz NOT NULL,
    closed_at timestamptz
);
CREATE INDEX goals_by_thread ON goals (thread_id);

CREATE TABLE thread_log (
    thread_id  uuid NOT NULL,
    version    int  NOT NULL,
    workspace  text NOT NULL,
    at         timestamptz NOT NULL,
    from_state text NOT NULL,
    to_state   text NOT NULL,
    trigger    text NOT NULL,
    reason     text NOT NULL,
    refused    text NOT NULL DEFAULT '',
    cause      uuid,
    PRIMARY KEY (thread_id, version)
);

CREATE TABLE thread_actions (
    thread_id uuid NOT NULL,
    version   int  NOT NULL,
    workspace text NOT NULL,
    at        timestamptz NOT NULL,
    action    text NOT NULL,
    detail    text NOT NULL,
    PRIMARY KEY (thread_id, version)
);

CREATE TABLE thread_summaries (
    thread_id  uuid PRIMARY KEY,
    workspace  text NOT NULL,
    text       text NOT NULL,
    words      int  NOT NULL,
    covers_to  int  NOT NULL,
    updated_at timestamptz NOT NULL
);
