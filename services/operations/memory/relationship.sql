-- name: steps
-- Every step of the lifecycle, refused ones too.
SELECT version, at, from_state, to_state, trigger, reason, refused, cause FROM participant_log
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s ORDER BY version;

-- name: step_of
-- What became of a request for a step.
SELECT version, at, from_state, to_state, trigger, reason, refused, cause FROM participant_log
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND cause = %(cause)s;

-- name: issues
-- The issues that they reported, open ones first.
SELECT issue_key, reports, resolved, thread_id, first_at, last_at FROM participant_issues
WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
ORDER BY resolved, last_at DESC, issue_key;

-- name: moods
-- How mood and risk came to what they are, the latest first; older days may be archived.
SELECT time AS at, causation_id AS cause, data FROM events
WHERE workspace = %(workspace)s AND key = %(participant_id)s::text AND type = 'participant.signals_noted.v1'
ORDER BY seq DESC LIMIT %(limit)s;
