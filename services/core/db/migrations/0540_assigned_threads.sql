-- A person's own threads are a page of the inbox.
-- depends: 0470_users

CREATE INDEX threads_by_assignee ON threads (workspace, assignee, changed_at DESC, thread_id DESC) WHERE assignee <> '';
