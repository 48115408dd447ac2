-- name: decisions
-- What became of dead letters.
SELECT letter_id, state, reason FROM letter_decisions WHERE letter_id = ANY(%(ids)s);

-- name: decide
-- The newest word stands: one that was discarded and then redriven is redriven.
INSERT INTO letter_decisions (letter_id, state, reason, decided_at, consumer, event_id)
VALUES (%(letter_id)s, %(state)s, %(reason)s, %(now)s, %(consumer)s, %(event_id)s)
ON CONFLICT (letter_id) DO UPDATE SET state = excluded.state, reason = excluded.reason, decided_at = excluded.decided_at;
