-- name: unlearned
-- The turns that are still to be learned from: those that ended, or of which the answer is not learned, and those about
-- which the model is asked again, with when that is next.
SELECT (SELECT count(*) FROM not_done(ARRAY['turns', 'turn-reflected'], ARRAY['reflect', 'learn_facts'], %(low)s) n
        JOIN events e ON e.id = n.event_id
        WHERE e.type IN ('turn.closed.v1', 'turn.reflected.v1') AND e.workspace = %(workspace)s
          AND NOT EXISTS (SELECT FROM dead_letter_places p WHERE p.event_id = n.event_id AND p.consumer = n.consumer AND NOT p.decided)) AS under_way,
       count(*) AS again, min(due_at) AS next_at
FROM timers WHERE workspace = %(workspace)s AND event ->> 'purpose' = 'reflect_again';
