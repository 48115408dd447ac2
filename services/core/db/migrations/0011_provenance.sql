-- Where each fact is from, and what was decided about memory operations.
-- depends: 0010_memory

CREATE TABLE fact_sources (
    fact_id        uuid NOT NULL,
    version        int  NOT NULL,
    workspace      text NOT NULL,
    participant_id uuid NOT NULL,
    mail_id        uuid,
    thread_id      uuid,
    trust          text NOT NULL,
    quote          text NOT NULL,
    at             timestamptz NOT NULL,
    PRIMARY KEY (fact_id, version)
);
COMMENT ON TABLE fact_sources IS 'One row a support: the mail that said it, or the person. Confidence is computed from these.';

CREATE TABLE fact_log (
    participant_id uuid NOT NULL,
    version        int  NOT NULL,
    workspace      text NOT NULL,
    at             timestamptz NOT NULL,
    decision       text NOT NULL,
    fact_id        uuid,
    key            text NOT NULL,
    reason         text NOT NULL,
    cause          uuid,
    PRIMARY KEY (participant_id, version)
);
COMMENT ON TABLE fact_log IS 'Each decision about a fact: recorded, corroborated, retracted, pinned, refused, and the rule.';
