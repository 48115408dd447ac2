-- Where each fact is from, what follows from it, and what was decided about memory operations.
-- depends: 0010_memory

ALTER TABLE facts ADD COLUMN stale_since timestamptz;
ALTER TABLE facts ADD COLUMN merged_into uuid;
ALTER TABLE facts ADD CHECK (superseded_at IS NOT NULL OR merged_into IS NULL);

COMMENT ON COLUMN facts.stale_since IS 'Since when a fact that this one was derived from has changed; its weight is halved. NULL = not stale.';
COMMENT ON COLUMN facts.merged_into IS 'The fact that says the same and is shown in its place; undone by clearing it together with superseded_at.';
COMMENT ON COLUMN facts.valid_to IS 'Until when it was so (exclusive), as we know today; NULL = still. What was known earlier follows from fact_sources.';
COMMENT ON COLUMN facts.superseded_at IS 'The time of the event since when it is not the current value: a successor, an end, a merge. Equal to recorded_at where the mail came late and something newer was known. NULL = current.';
COMMENT ON COLUMN facts.superseded_by IS 'The successor; NULL where it ended without one.';
COMMENT ON COLUMN facts.retracted_at IS 'Since when we believe that it never was so: a person corrected it or made us forget it.';

CREATE TABLE fact_sources (
    fact_id        uuid NOT NULL,
    version        int  NOT NULL,
    workspace      text NOT NULL,
    participant_id uuid NOT NULL,
    mail_id        uuid,
    reply_id       uuid,
    thread_id      uuid,
    trust          text NOT NULL,
    quote          text NOT NULL,
    said_at        timestamptz NOT NULL,
    at             timestamptz NOT NULL,
    PRIMARY KEY (fact_id, version)
);
CREATE INDEX fact_sources_of_participant ON fact_sources (participant_id, said_at);
COMMENT ON TABLE fact_sources IS 'One row a support: the mail that said it, our own mail, or the person. Confidence is computed from these.';
COMMENT ON COLUMN fact_sources.said_at IS 'Valid time: when it was said to be so. The latest one of a key holds.';
COMMENT ON COLUMN fact_sources.at IS 'Recorded time: when we learned that it was said.';

CREATE TABLE fact_parents (
    fact_id        uuid NOT NULL,
    parent_id      uuid NOT NULL,
    workspace      text NOT NULL,
    participant_id uuid NOT NULL,
    PRIMARY KEY (fact_id, parent_id)
);
CREATE INDEX fact_parents_of_participant ON fact_parents (participant_id);
COMMENT ON TABLE fact_parents IS 'What a derived fact was derived from; when a parent changes, it is stale.';

CREATE TABLE fact_log (
    participant_id uuid NOT NULL,
    version        int  NOT NULL,
    workspace      text NOT NULL,
    at             timestamptz NOT NULL,
    decision       text NOT NULL,
    fact_id        uuid,
    key            text NOT NULL,
    value          text NOT NULL,
    reason         text NOT NULL,
    cause          uuid,
    PRIMARY KEY (participant_id, version)
);
CREATE INDEX fact_log_of_fact ON fact_log (fact_id, version);
COMMENT ON TABLE fact_log IS 'Each decision about a fact: recorded, corroborated, retracted, merged, stale, pinned, refused, and the rule.';
