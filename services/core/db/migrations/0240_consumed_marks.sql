-- How far each consumer has done its topics, so that what is undone is found without reading what is done.
-- depends: 0206_copies 0207_sendable_documents

CREATE TABLE consumed_marks (
    topic    text NOT NULL,
    consumer text NOT NULL,
    seq      bigint NOT NULL,
    PRIMARY KEY (topic, consumer)
);
COMMENT ON TABLE consumed_marks IS 'Low-water marks: what a consumer has not done of its topic stands behind the mark, or in undone_events. Derived; empty is right, and slow.';

CREATE TABLE undone_events (
    consumer text NOT NULL,
    event_id uuid NOT NULL,
    topic    text NOT NULL,
    seq      bigint NOT NULL,
    PRIMARY KEY (consumer, event_id)
);
COMMENT ON TABLE undone_events IS 'Events before the mark that a consumer had not done when the mark passed them; gone once they are done.';

-- Who takes rows of the journal back takes the marks back with them. Days that retention removes are removed by their
-- own table, and have no event any more.
CREATE FUNCTION forget_marks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM consumed_marks;
    RETURN NULL;
END $$;
CREATE TRIGGER journal_taken_back AFTER DELETE OR TRUNCATE ON journal
    FOR EACH STATEMENT EXECUTE FUNCTION forget_marks();

-- Which events some consumers have not done: `low` is the least of their marks (a parameter, so that the planner knows
-- how few events are behind it).
CREATE FUNCTION not_done(topics text[], consumers text[], low bigint)
RETURNS TABLE (consumer text, event_id uuid, seq bigint) LANGUAGE sql STABLE AS $$
    WITH pairs AS (
        SELECT c.topic, c.consumer, coalesce(m.seq, -1) AS mark
        FROM unnest(topics, consumers) AS c (topic, consumer)
        LEFT JOIN consumed_marks m ON m.topic = c.topic AND m.consumer = c.consumer),
    found AS (
        SELECT u.consumer, e.id, e.seq, e.time FROM pairs p
        JOIN undone_events u ON u.topic = p.topic AND u.consumer = p.consumer AND u.seq <= p.mark
        JOIN events e ON e.id = u.event_id
        UNION ALL
        SELECT p.consumer, e.id, e.seq, e.time FROM events e JOIN pairs p ON p.topic = e.topic AND e.seq > p.mark
        WHERE e.seq > low)
    SELECT f.consumer, f.id, f.seq FROM found f
    WHERE NOT EXISTS (SELECT FROM journal j WHERE j.consumer = f.consumer AND j.event_id = f.id
                      AND j.event_day = (f.time AT TIME ZONE 'UTC')::date)
      AND NOT EXISTS (SELECT FROM letter_decisions d WHERE d.consumer = f.consumer AND d.event_id = f.id
                      AND d.state = 'discarded')
$$;
COMMENT ON FUNCTION not_done IS 'What consumers have neither journaled nor, as a dead letter, been spared by a person.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
