-- Every list has an index on what it is sorted by, ended by an id, so that any page costs what it shows.
-- depends: 0240_consumed_marks

CREATE INDEX threads_by_change ON threads (workspace, changed_at, thread_id);
CREATE INDEX threads_of_state ON threads (workspace, state, changed_at, thread_id);
DROP INDEX IF EXISTS threads_by_state;
CREATE INDEX threads_of_inbox ON threads (workspace, inbox, changed_at, thread_id);
CREATE INDEX threads_of_priority ON threads (workspace, priority, changed_at, thread_id) WHERE priority <> 'normal';

CREATE INDEX participants_by_sight ON participants (workspace, last_seen_at, participant_id);

CREATE INDEX mails_by_receipt ON mails (workspace, received_at, mail_id);
DROP INDEX IF EXISTS mails_by_time;

CREATE INDEX deliveries_by_change ON deliveries (workspace, changed_at, reply_id);
CREATE INDEX deliveries_of_state ON deliveries (workspace, state, changed_at, reply_id);
DROP INDEX IF EXISTS deliveries_by_state;
CREATE INDEX deliveries_without_copy ON deliveries (workspace, changed_at) WHERE sent_copy = 'missing';

CREATE INDEX deadlines_by_due ON thread_deadlines (workspace, due_at, thread_id, kind) WHERE status IN ('running', 'breached');
DROP INDEX IF EXISTS thread_deadlines_open;

CREATE INDEX alerts_by_raising ON alerts (workspace, raised_at, alert_id);
CREATE INDEX suppressions_by_time ON suppressions (workspace, at, addr);
CREATE INDEX documents_by_title ON documents (workspace, title, document_id);
DROP INDEX IF EXISTS documents_by_workspace;
CREATE INDEX documents_refused ON document_log (workspace, document_id, version) WHERE decision = 'refused';
CREATE INDEX proposals_of_state ON proposals (workspace, state, proposed_at, document_id);
DROP INDEX IF EXISTS proposals_by_state;
CREATE INDEX held_records_waiting ON held_records (since, id) WHERE released_at IS NULL;
CREATE INDEX outbox_refused ON outbox ((-attempts), seq) WHERE attempts > 0;
CREATE INDEX turns_failed ON turns (workspace, closed_at) WHERE outcome = 'failed';
CREATE INDEX turns_open ON turns (workspace, opened_at) WHERE closed_at IS NULL;
CREATE INDEX letter_decisions_discarded ON letter_decisions (consumer, event_id) WHERE state = 'discarded';

-- What retention asks each day: of which days events are still in the table.
CREATE INDEX events_by_time ON events USING brin (time);
