-- name: undone
-- Events that some consumer has not done for longer than it should: whatever the cause, and whether its offset has passed
-- them or not. Nothing before the low-water marks is looked at again. What it gave up is a dead letter, and counted there.
SELECT n.consumer, count(*) AS events, min(e.stored_at) AS oldest, (array_agg(e.type ORDER BY e.seq))[1] AS type
FROM left_to_do(%(topics)s::text[], %(consumers)s::text[], %(skipped)s::text[], %(low)s) n JOIN events e ON e.id = n.event_id
WHERE e.stored_at < clock_timestamp() - make_interval(secs => %(older_s)s)
  AND NOT EXISTS (SELECT FROM dead_letter_places p WHERE p.event_id = n.event_id AND p.consumer = n.consumer AND NOT p.decided)
GROUP BY n.consumer ORDER BY n.consumer;

-- name: given_up
-- By consumer, how many events it gave up that nobody has redriven or discarded.
SELECT consumer, count(DISTINCT coalesce(event_id, id)) AS events, min(failed_at) AS oldest FROM dead_letter_places
WHERE NOT decided GROUP BY consumer ORDER BY consumer;

-- name: suspects
-- Events on the log that one of their consumers has not done for a while, the oldest first: no dead letters that wait, and
-- none that were published again too often.
SELECT n.consumer, e.topic, n.event_id, n.seq
FROM left_to_do(%(topics)s::text[], %(consumers)s::text[], %(skipped)s::text[], %(low)s) n JOIN events e ON e.id = n.event_id
WHERE e.stored_at < clock_timestamp() - make_interval(secs => %(older_s)s)
  AND NOT EXISTS (SELECT FROM outbox o WHERE o.event_id = n.event_id)
  AND NOT EXISTS (SELECT FROM dead_letter_places p WHERE p.event_id = n.event_id AND p.consumer = n.consumer)
  AND n.event_id <> ALL (%(spent)s::uuid[])
ORDER BY n.seq LIMIT %(limit)s;

-- name: unfetched
-- Mails that an IMAP server would not hand over.
SELECT inbox, count(*) AS mails, min(error) AS error, max(attempts) AS attempts FROM unfetched_mails
WHERE workspace = %(workspace)s GROUP BY inbox ORDER BY inbox;

-- name: unanswered
-- Threads in which mail waits for long although no turn is open and no person has it, who waits longest first.
SELECT c.thread_id, t.state, count(*) AS mails, min(c.at) AS oldest FROM conversation c JOIN threads t USING (thread_id)
WHERE c.pending AND c.workspace = %(workspace)s AND t.state <> 'escalated'
  AND NOT EXISTS (SELECT FROM turns u WHERE u.thread_id = c.thread_id AND u.closed_at IS NULL)
GROUP BY c.thread_id, t.state HAVING max(c.at) < %(before)s ORDER BY min(c.at) LIMIT %(limit)s;

-- name: waiting_timers
-- Which of these timers will still come.
SELECT id FROM timers WHERE id = ANY (%(ids)s);
