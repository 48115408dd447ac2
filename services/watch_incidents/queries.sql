-- name: newest_mail
-- The newest mail of a turn that its proven author wrote live, as a trouble in it is reported (read_email's own rows).
SELECT mail_id, thread_id, participant_id, text, author_addr, received_at,
       (SELECT (person_ids(participant_id))[1]) AS person
FROM mails WHERE mail_id = ANY(%(mail_ids)s) AND participant_id = %(participant_id)s AND trusted AND mode = 'live'
ORDER BY received_at DESC, mail_id LIMIT 1;

-- name: report
SELECT report_id FROM trouble_reports WHERE report_id = %(report_id)s;

-- name: loose
-- The newest reports of an inbox within some days that are of no incident.
SELECT r.report_id, r.participant_id, r.thread_id, r.mail_id, r.trouble, r.names, r.said_at, r.incident_id,
       (person_ids(r.participant_id))[1] AS person, m.author_addr
FROM trouble_reports r JOIN mails m USING (mail_id)
WHERE r.board_id = %(board_id)s AND r.incident_id IS NULL AND r.said_at BETWEEN %(since)s AND %(until)s
ORDER BY r.said_at DESC, r.report_id LIMIT %(most)s;

-- name: incidents
-- Incidents that a report may be of: those that are open, and those that were closed after a moment.
SELECT incident_id, is_open, closed_at, answer, closings FROM incidents
WHERE board_id = %(board_id)s AND (is_open OR closed_at >= %(closed_since)s)
ORDER BY opened_at DESC, incident_id LIMIT %(most)s;

-- name: incident
SELECT incident_id, is_open, closed_at, answer, closings FROM incidents
WHERE board_id = %(board_id)s AND incident_id = %(incident_id)s;

-- name: reports_of
-- The reports of some incidents, oldest first.
SELECT r.report_id, r.participant_id, r.thread_id, r.mail_id, r.trouble, r.names, r.said_at, r.incident_id,
       (person_ids(r.participant_id))[1] AS person, m.author_addr
FROM trouble_reports r JOIN mails m USING (mail_id)
WHERE r.incident_id = ANY(%(incidents)s) ORDER BY r.said_at, r.report_id;

-- name: insert_report
INSERT INTO trouble_reports (report_id, board_id, workspace, participant_id, thread_id, mail_id, trouble, names, said_at,
                             incident_id)
VALUES (%(report_id)s, %(board_id)s, %(workspace)s, %(participant_id)s, %(thread_id)s, %(mail_id)s, %(trouble)s, %(names)s,
        %(said_at)s, %(incident_id)s);

-- name: insert_incident
INSERT INTO incidents (incident_id, board_id, workspace, inbox, since, opened_at, changed_at)
VALUES (%(incident_id)s, %(board_id)s, %(workspace)s, %(inbox)s, %(since)s, %(at)s, %(at)s);

-- name: put_into_incident
UPDATE trouble_reports SET incident_id = %(incident_id)s WHERE report_id = ANY(%(report_ids)s);

-- name: close_incident
UPDATE incidents SET is_open = false, closed_at = %(at)s, changed_at = %(at)s, changed_by = %(by)s, reason = %(reason)s,
    answer = %(answer)s, closings = %(closing)s
WHERE incident_id = %(incident_id)s;

-- name: reopen_incident
UPDATE incidents SET is_open = true, changed_at = %(at)s, changed_by = %(by)s, reason = %(reason)s
WHERE incident_id = %(incident_id)s;
