-- name: mails
-- The mails that are answered, oldest first.
SELECT mail_id, text FROM mails WHERE mail_id = ANY(%(mail_ids)s) ORDER BY received_at, mail_id;

-- name: open_turn
-- The turn, if it is still open: no model is asked for a turn that was overtaken.
SELECT turn_id FROM turns WHERE turn_id = %(turn_id)s AND closed_at IS NULL;
