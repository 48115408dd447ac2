-- Whom we write to, as learn_facts knows them (their facts are in 0010_memory).
-- depends: 0004_deliveries

CREATE TABLE participants (
    participant_id    uuid PRIMARY KEY,
    workspace         text NOT NULL,
    addr              text NOT NULL,
    name              text NOT NULL,
    state             text NOT NULL CHECK (state IN
                          ('unknown', 'prospect', 'customer', 'vip', 'at_risk', 'churned', 'returning')),
    sentiment         double precision NOT NULL DEFAULT 0,
    frustrated_in_row int  NOT NULL DEFAULT 0,
    risk              text NOT NULL DEFAULT 'low',
    tags              text[] NOT NULL DEFAULT '{}',
    first_seen_at     timestamptz NOT NULL,
    last_seen_at      timestamptz NOT NULL
);
CREATE INDEX participants_by_addr ON participants (workspace, addr);

CREATE TABLE participant_log (
    participant_id uuid NOT NULL,
    version        int  NOT NULL,
    workspace      text NOT NULL,
    at             timestamptz NOT NULL,
    from_state     text NOT NULL,
    to_state       text NOT NULL,
    trigger        text NOT NULL,
    reason         text NOT NULL,
    refused        text NOT NULL DEFAULT '',
    cause          uuid,
    PRIMARY KEY (participant_id, version)
);

CREATE TABLE participant_issues (
    participant_id uuid NOT NULL,
    issue_key      text NOT NULL,
    workspace      text NOT NULL,
    reports        int  NOT NULL,
    resolved       boolean NOT NULL,
    thread_id      uuid NOT NULL,
    first_at       timestamptz NOT NULL,
    last_at        timestamptz NOT NULL,
    PRIMARY KEY (participant_id, issue_key)
);

CREATE TABLE sessions (
    participant_id uuid PRIMARY KEY,
    workspace      text NOT NULL,
    thread_id      uuid NOT NULL,
    summary        text NOT NULL,
    updated_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL
);

CREATE TABLE briefs (
    participant_id uuid PRIMARY KEY,
    workspace      text NOT NULL,
    text           text NOT NULL,
    updated_at     timestamptz NOT NULL
);

CREATE TABLE relations (
    relation_id    uuid PRIMARY KEY,
    participant_id uuid NOT NULL,
    workspace      text NOT NULL,
    subject        text NOT NULL,
    predicate      text NOT NULL,
    object         text NOT NULL,
    quote          text NOT NULL,
    confidence     double precision NOT NULL,
    source_mail    uuid,
    recorded_at    timestamptz NOT NULL,
    deleted_at     timestamptz
);
CREATE INDEX relations_by_participant ON relations (participant_id);
