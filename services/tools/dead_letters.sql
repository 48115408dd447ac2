-- name: letter_states
-- What became of dead letters; one that was discarded and then redriven is redriven.
SELECT event_id, max(substr(consumer, 5)) AS state FROM journal
WHERE event_id = ANY(%(ids)s) AND consumer IN ('dlq.redriven', 'dlq.discarded')
GROUP BY event_id;
