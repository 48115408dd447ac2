-- name: undone
-- Events that some consumer has not done for longer than it should: whatever the cause, and whether its offset has passed
-- them or not. Nothing before the low-water marks is looked at again.
SELECT n.consumer, count(*) AS events, min(e.stored_at) AS oldest, (array_agg(e.type ORDER BY e.seq))[1] AS type
FROM left_to_do(%(topics)s::text[], %(consumers)s::text[], %(skipped)s::text[], %(low)s) n JOIN events e ON e.id = n.event_id
WHERE e.stored_at < clock_timestamp() - make_interval(secs => %(older_s)s)
GROUP BY n.consumer ORDER BY n.consumer;

-- name: unfetched
-- Mails that an IMAP server would not hand over.
SELECT inbox, count(*) AS mails, min(error) AS error, max(attempts) AS attempts FROM unfetched_mails
WHERE workspace = %(workspace)s GROUP BY inbox ORDER BY inbox;
