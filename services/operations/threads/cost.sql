-- name: hops
-- From the mail that a turn answers to the reply that left: its newest mail as it came and as it was read before the context
-- was loaded, what opened the turn, the context, what was decided on it, and the steps of its replies.
WITH context AS (SELECT id, seq, causation_id FROM events WHERE workspace = %(workspace)s AND id = %(event_id)s),
understood AS (
    SELECT e.* FROM events e, context c
    WHERE e.workspace = %(workspace)s AND e.aggregate = 'mail' AND e.aggregate_id = ANY(%(mail_ids)s)
      AND e.version IS NOT NULL AND e.seq < c.seq
    ORDER BY e.seq DESC LIMIT 1),
found AS (
    SELECT e.* FROM understood u JOIN events e ON e.id = u.causation_id
    UNION ALL SELECT * FROM understood
    UNION ALL SELECT e.* FROM context c JOIN events e ON e.id = c.causation_id
    UNION ALL SELECT e.* FROM context c JOIN events e ON e.id = c.id
    UNION ALL SELECT e.* FROM context c JOIN events e ON e.causation_id = c.id
    UNION ALL SELECT e.* FROM events e
    WHERE e.workspace = %(workspace)s AND e.aggregate = 'delivery' AND e.aggregate_id = ANY(%(reply_ids)s)
      AND e.version IS NOT NULL)
SELECT type, stored_at FROM found WHERE workspace = %(workspace)s AND type = ANY(%(types)s) ORDER BY seq;
