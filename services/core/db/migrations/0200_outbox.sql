-- Stored events that are not on the log yet stand in a narrow table of their own, so that `events` is only inserted into.
-- depends: 0171_mails_of_a_person

CREATE TABLE outbox (
    event_id     uuid PRIMARY KEY,
    seq          bigint NOT NULL,
    causation_id uuid,
    source       text NOT NULL,
    attempts     int NOT NULL DEFAULT 0,
    next_attempt timestamptz NOT NULL DEFAULT clock_timestamp() + interval '5 seconds',
    error        text NOT NULL DEFAULT ''
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX outbox_due ON outbox (next_attempt, seq);
CREATE INDEX outbox_by_cause ON outbox (causation_id);
COMMENT ON TABLE outbox IS 'Stored events that the broker has not acknowledged; whoever publishes one deletes its row. Bound: what waits.';
COMMENT ON COLUMN outbox.attempts IS 'How often the broker refused the event; 0 while it was only away.';
COMMENT ON COLUMN outbox.next_attempt IS 'When the outbox relay publishes it; the process that stored it has a few seconds to do so first.';

INSERT INTO outbox (event_id, seq, causation_id, source)
SELECT id, seq, causation_id, source FROM events WHERE published_at IS NULL;

-- Expand: version 0.1 says by `published_at` what is not on the log yet, and runs next to this one during an upgrade.
-- Newer code stores events with `published_at` set, and deletes rows of the outbox.
CREATE FUNCTION follow_published_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.published_at IS NULL THEN
        INSERT INTO outbox (event_id, seq, causation_id, source, next_attempt)
        VALUES (NEW.id, NEW.seq, NEW.causation_id, NEW.source, NEW.stored_at + interval '5 seconds')
        ON CONFLICT (event_id) DO NOTHING;
    ELSE
        DELETE FROM outbox WHERE event_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER events_stored_by_0_1 AFTER INSERT ON events
    FOR EACH ROW WHEN (NEW.published_at IS NULL) EXECUTE FUNCTION follow_published_at();
CREATE TRIGGER events_published_by_0_1 AFTER UPDATE OF published_at ON events
    FOR EACH ROW WHEN (OLD.published_at IS DISTINCT FROM NEW.published_at) EXECUTE FUNCTION follow_published_at();
COMMENT ON COLUMN events.published_at IS 'Kept for version 0.1: NULL while an event that it stored is not on the log. Newer code reads the outbox.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
