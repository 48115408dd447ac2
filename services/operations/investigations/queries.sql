-- name: thread
-- Whose thread it is: its proven author who wrote last.
SELECT m.participant_id FROM mails m JOIN threads t USING (thread_id)
WHERE t.workspace = %(workspace)s AND t.thread_id = %(thread_id)s AND m.trusted AND m.participant_id IS NOT NULL
ORDER BY m.received_at DESC, m.mail_id LIMIT 1;

-- name: known_thread
SELECT thread_id FROM threads WHERE workspace = %(workspace)s AND thread_id = %(thread_id)s;

-- name: investigations
-- The latest first; of one id, or of one thread, where it is given.
SELECT i.investigation_id, i.of_thread AS thread_id, i.participant_id, p.addr AS customer, i.state, i.outcome, i.question, i.by,
       i.opened_at, i.closed_at, i.rounds, i.tokens_in, i.tokens_out, i.gone_at,
       (SELECT count(*) FROM investigation_proposals w
        WHERE w.investigation_id = i.investigation_id AND w.state = 'waiting')::int AS waiting
FROM investigations i LEFT JOIN participants p ON p.workspace = i.workspace AND p.participant_id = i.participant_id
WHERE i.workspace = %(workspace)s AND (%(investigation_id)s::uuid IS NULL OR i.investigation_id = %(investigation_id)s)
  AND (%(thread_id)s::uuid IS NULL OR i.of_thread = %(thread_id)s)
  AND (i.opened_at, i.investigation_id) < (%(after_opened_at)s::timestamptz, %(after_investigation_id)s::uuid)
ORDER BY i.opened_at DESC, i.investigation_id DESC LIMIT %(limit)s;

-- name: found
-- What came of one.
SELECT reason, note, diff, outputs, conflicts, dropped FROM investigations
WHERE workspace = %(workspace)s AND investigation_id = %(investigation_id)s;

-- name: standing
-- Some kept files of a participant, as the next investigation finds them.
SELECT path, text FROM investigation_files
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND path = ANY(%(paths)s) ORDER BY path;

-- name: proposals
-- `was` is the fact that it would change; `refused` is why what was accepted did not become memory.
SELECT w.proposal_id, w.content, w.state, w.decided_by, w.decided_at, m.subject, m.thread_id, f.value AS was, r.reason AS refused
FROM investigation_proposals w
LEFT JOIN mails m ON m.mail_id = (w.content ->> 'mail_id')::uuid
LEFT JOIN facts f ON f.workspace = w.workspace AND f.fact_id = (w.content ->> 'fact_id')::uuid
LEFT JOIN LATERAL (
    SELECT l.reason FROM fact_log l
    WHERE l.workspace = w.workspace AND l.participant_id = ANY((SELECT person_ids(w.participant_id))::uuid[])
      AND l.cause = w.request_id AND l.decision LIKE '%% refused' LIMIT 1
) r ON true
WHERE w.workspace = %(workspace)s AND w.investigation_id = %(investigation_id)s ORDER BY w.place;

-- name: proposal
-- Whose proposal it is.
SELECT proposal_id, investigation_id, participant_id, state, decided_at, request_id FROM investigation_proposals
WHERE workspace = %(workspace)s AND proposal_id = %(proposal_id)s;
