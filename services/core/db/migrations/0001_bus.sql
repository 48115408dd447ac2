-- The truth and its bookkeeping: events, aggregates, journal, checkpoints, timers.
-- depends:

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE events (
    id             uuid PRIMARY KEY,
    seq            bigint GENERATED ALWAYS AS IDENTITY,
    workspace      text NOT NULL,
    topic          text NOT NULL,
    key            text NOT NULL,
    type           text NOT NULL,
    source         text NOT NULL,
    time           timestamptz NOT NULL,
    aggregate      text,
    aggregate_id   uuid,
    version        int,
    data_subject   uuid,
    correlation_id uuid NOT NULL,
    causation_id   uuid,
    data           jsonb NOT NULL,
    stored_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    published_at   timestamptz
);
CREATE UNIQUE INDEX events_one_version ON events (workspace, aggregate, aggregate_id, version) WHERE version IS NOT NULL;
CREATE INDEX events_unpublished ON events (seq) WHERE published_at IS NULL;
CREATE INDEX events_by_seq ON events (seq);
CREATE INDEX events_by_topic ON events (topic, seq);
CREATE INDEX events_by_cause ON events (causation_id);
CREATE INDEX events_by_correlation ON events (correlation_id);
CREATE INDEX events_by_key ON events (key, seq);
COMMENT ON TABLE events IS 'Everything that happened, stored in the transaction that decides it; all other tables are projections.';

CREATE TABLE aggregates (
    workspace text NOT NULL,
    kind      text NOT NULL,
    id        uuid NOT NULL,
    version   int  NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, kind, id)
);
COMMENT ON TABLE aggregates IS 'One row an aggregate: its version, and the lock that a deciding processor holds.';

-- Slim, by day, so that it can outlive every topic's retention and be dropped by the day.
CREATE TABLE journal (
    consumer  text NOT NULL,
    event_id  uuid NOT NULL,
    event_day date NOT NULL,
    done_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, event_id, event_day)
) PARTITION BY RANGE (event_day);
CREATE TABLE journal_other PARTITION OF journal DEFAULT;
COMMENT ON TABLE journal IS 'What each consumer has done. A conflict means: already done, use what is stored.';

CREATE TABLE checkpoints (
    consumer  text NOT NULL,
    event_id  uuid NOT NULL,
    step      text NOT NULL,
    answer    jsonb NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer, event_id, step)
);
COMMENT ON TABLE checkpoints IS 'Answers of models and tools, kept at once, so that they are not asked for again.';

CREATE TABLE timers (
    id             uuid PRIMARY KEY,
    workspace      text NOT NULL,
    due_at         timestamptz NOT NULL,
    correlation_id uuid NOT NULL,
    causation_id   uuid NOT NULL,
    event          jsonb NOT NULL
);
CREATE INDEX timers_due ON timers (due_at);
COMMENT ON TABLE timers IS 'What is to happen later; keep_time publishes timer.elapsed and deletes the row.';

-- A day that already has rows in the default partition stays there: nothing is moved under the consumers' feet.
CREATE FUNCTION make_journal_day(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := 'journal_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF to_regclass(name) IS NULL THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF journal FOR VALUES FROM (%L) TO (%L)', name, day, day + 1);
    END IF;
EXCEPTION WHEN check_violation OR duplicate_table THEN
    NULL;
END $$;
