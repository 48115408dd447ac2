-- name: last_language
-- Of a person's mails, under whichever of their addresses.
SELECT language FROM mails
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) AND language <> ''
ORDER BY received_at DESC LIMIT 1
