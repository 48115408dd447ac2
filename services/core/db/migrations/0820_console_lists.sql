-- What the console shows of a large mailbox is read in its order: threads that may need a person, and drafts that wait.
-- depends: 0840_found_by_index

CREATE INDEX IF NOT EXISTS threads_in_hand ON threads (workspace, changed_at, thread_id)
    WHERE snoozed_until IS NULL AND (state = 'escalated' OR open_turn IS NOT NULL);
CREATE INDEX IF NOT EXISTS deliveries_waiting ON deliveries (workspace, created_at, reply_id) WHERE state = 'draft';
