-- name: kept_under
-- Whether mails of one participant were stored under another's id, and whether that one has mails of their own.
SELECT EXISTS (SELECT FROM mails m JOIN events e ON e.aggregate = 'mail' AND e.aggregate_id = m.mail_id AND e.version IS NOT NULL
               WHERE m.workspace = %(workspace)s AND m.participant_id = %(own)s AND e.data_subject = %(former)s) AS stored,
       EXISTS (SELECT FROM mails
               WHERE workspace = %(workspace)s AND participant_id = %(former)s) AS shared;
