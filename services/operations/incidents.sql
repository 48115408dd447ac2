-- name: incidents
-- Incidents, the newest first; of one id where it is given.
SELECT incident_id, inbox, is_open, since, opened_at, changed_at, changed_by, reason, closed_at, closings, answer
FROM incidents
WHERE workspace = %(workspace)s AND (%(incident_id)s::uuid IS NULL OR incident_id = %(incident_id)s)
  AND (opened_at, incident_id) < (%(after_opened_at)s::timestamptz, %(after_incident_id)s::uuid)
ORDER BY opened_at DESC, incident_id DESC LIMIT %(limit)s;

-- name: reports
-- The reports of some incidents, the oldest first.
SELECT r.report_id, r.participant_id, r.thread_id, r.mail_id, r.trouble, r.names, r.said_at, r.incident_id,
       (person_ids(r.participant_id))[1] AS person, m.author_addr
FROM trouble_reports r JOIN mails m USING (mail_id)
WHERE r.incident_id = ANY(%(incidents)s) ORDER BY r.said_at, r.report_id;

-- name: answers
-- Where drafts stand in the ledger.
SELECT reply_id, state, detail FROM deliveries WHERE reply_id = ANY(%(replies)s);

-- name: refusals
-- Why threads had no room for drafts.
SELECT id, type, data FROM events
WHERE type = 'thread.draft_refused.v1' AND aggregate = 'thread' AND aggregate_id = ANY(%(threads)s)
  AND version IS NOT NULL AND data ->> 'reply_id' = ANY(%(typed)s);
