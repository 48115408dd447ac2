-- name: mails
-- The mails that are answered, oldest first.
SELECT mail_id, text FROM mails WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at, mail_id;

-- name: open_turn
-- The turn, if it is still open: no model is asked for a turn that was overtaken. And whether nothing was sent yet to the
-- person whose it is.
SELECT turn_id, NOT EXISTS (
           SELECT FROM mails m JOIN deliveries d ON d.thread_id = m.thread_id AND d.state = 'sent'
           WHERE m.workspace = %(workspace)s AND m.participant_id = %(participant_id)s) AS first_contact
FROM turns WHERE turn_id = %(turn_id)s AND closed_at IS NULL;
