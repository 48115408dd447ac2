-- name: profile
SELECT field, value FROM participant_profile
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s ORDER BY field;

-- name: set_fields
INSERT INTO participant_profile (participant_id, field, workspace, value, by, reason, at, cause)
SELECT %(participant_id)s, one.key, %(workspace)s, one.value, %(by)s, %(reason)s, %(at)s, %(cause)s
FROM jsonb_each_text(%(fields)s) AS one
ON CONFLICT (workspace, participant_id, field) DO UPDATE SET value = excluded.value, by = excluded.by,
    reason = excluded.reason, at = excluded.at, cause = excluded.cause;

-- name: remove_fields
DELETE FROM participant_profile
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND field = ANY(%(removed)s);
