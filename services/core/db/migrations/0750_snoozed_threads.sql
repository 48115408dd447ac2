-- A thread that a person put off until a moment is off the lists until then.
-- depends: 0760_cited_facts

ALTER TABLE threads ADD COLUMN snoozed_until timestamptz;
COMMENT ON COLUMN threads.snoozed_until IS 'Until when a person put it off; null: it is on the lists.';
CREATE INDEX threads_snoozed ON threads (workspace, changed_at DESC, thread_id DESC) WHERE snoozed_until IS NOT NULL;
