-- Mails of two people in a thread are two turns: what waited when a turn opened is told from what came since.
-- depends: 0092_letter_decisions

ALTER TABLE turns ADD COLUMN version int;
UPDATE turns t SET version = e.version FROM events e
WHERE e.aggregate = 'thread' AND e.aggregate_id = t.thread_id AND e.type = 'turn.opened.v1'
  AND e.data ->> 'turn_id' = t.turn_id::text;
COMMENT ON COLUMN turns.version IS 'The thread''s version when the turn opened; none: opened before this column, and archived since.';
