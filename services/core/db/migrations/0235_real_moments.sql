-- When a reply left, and when a deadline ended, by the wall clock. NULL where the event was stored by an earlier release,
-- which gave everything the time of the customer's mail. A deadline that ended too late is `missed`.
-- depends: 0206_copies

ALTER TABLE deliveries ADD COLUMN sent_at timestamptz;
COMMENT ON COLUMN deliveries.sent_at IS 'When the SMTP server took the mail; NULL where that is not known.';

ALTER TABLE thread_deadlines ADD COLUMN ended_at timestamptz;
COMMENT ON COLUMN thread_deadlines.ended_at IS 'When what the deadline is about came: our answer, or that the thread was resolved.';
ALTER TABLE thread_deadlines DROP CONSTRAINT thread_deadlines_status_check;
ALTER TABLE thread_deadlines ADD CONSTRAINT thread_deadlines_status_check
    CHECK (status IN ('running', 'paused', 'met', 'missed', 'dropped', 'breached')) NOT VALID;
