-- A timer that is due soon is announced, so that the process that keeps time need not ask for it four times a second.
-- Those that are due later are found by its sweep (every minute). The same announcement is made once a transaction.
-- depends: 0207_sendable_documents

CREATE INDEX timers_look ON timers (look_at) WHERE look_at IS NOT NULL;

CREATE FUNCTION announce_timer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('correspondent_timers', '');
    RETURN NULL;
END $$;
CREATE TRIGGER timers_soon_set AFTER INSERT ON timers
    FOR EACH ROW WHEN (NEW.due_at < statement_timestamp() + interval '2 minutes') EXECUTE FUNCTION announce_timer();
CREATE TRIGGER timers_soon_moved AFTER UPDATE OF due_at ON timers
    FOR EACH ROW WHEN (NEW.due_at < statement_timestamp() + interval '2 minutes' AND NEW.due_at IS DISTINCT FROM OLD.due_at)
    EXECUTE FUNCTION announce_timer();
