-- name: answers
-- What the model and its tools answered while one context was handled.
SELECT step, answer FROM checkpoints WHERE consumer = %(consumer)s AND event_id = %(event_id)s;
