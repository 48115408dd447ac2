-- A consumer does the types that it has handlers for, and no journal row says that it has skipped the others.
-- depends: 0240_consumed_marks 0241_pages

CREATE FUNCTION has_to_do(consumer text, type text, skipped text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT consumer || ' ' || regexp_replace(type, '\.v[0-9]+$', '') <> ALL (skipped)
$$;
COMMENT ON FUNCTION has_to_do IS 'Whether a consumer journals events of a type, in whatever major version; `skipped` holds "consumer type" of those that it has no handler for.';

-- The function not_done goes on for the release before, which journals what it skips.
CREATE FUNCTION left_to_do(topics text[], consumers text[], skipped text[], low bigint)
RETURNS TABLE (consumer text, event_id uuid, seq bigint) LANGUAGE sql STABLE AS $$
    WITH pairs AS (
        SELECT c.topic, c.consumer, coalesce(m.seq, -1) AS mark
        FROM unnest(topics, consumers) AS c (topic, consumer)
        LEFT JOIN consumed_marks m ON m.topic = c.topic AND m.consumer = c.consumer),
    found AS (
        SELECT u.consumer, e.id, e.seq, e.time, e.type FROM pairs p
        JOIN undone_events u ON u.topic = p.topic AND u.consumer = p.consumer AND u.seq <= p.mark
        JOIN events e ON e.id = u.event_id
        UNION ALL
        SELECT p.consumer, e.id, e.seq, e.time, e.type FROM events e JOIN pairs p ON p.topic = e.topic AND e.seq > p.mark
        WHERE e.seq > low)
    SELECT f.consumer, f.id, f.seq FROM found f
    WHERE has_to_do(f.consumer, f.type, skipped)
      AND NOT EXISTS (SELECT FROM journal j WHERE j.consumer = f.consumer AND j.event_id = f.id
                      AND j.event_day = (f.time AT TIME ZONE 'UTC')::date)
      AND NOT EXISTS (SELECT FROM letter_decisions d WHERE d.consumer = f.consumer AND d.event_id = f.id
                      AND d.state = 'discarded')
$$;
COMMENT ON FUNCTION left_to_do IS
    'What consumers have to do and have neither journaled nor, as a dead letter, been spared by a person.';
