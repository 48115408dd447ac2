-- name: mails
SELECT mail_id, thread_id, subject, author_name, author_addr, received_at, identity, verdict, reason, quoted, blob,
       attachments
FROM mails WHERE workspace = %(workspace)s AND mail_id = ANY(%(ids)s);
