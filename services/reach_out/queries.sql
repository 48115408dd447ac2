-- name: candidates
-- Whom a rule may be about, one row a person, with the day that their fact names and the oldest goal that is open so long.
-- A person is written to in the thread in which they wrote last, proven. Nobody who is suppressed, unsubscribed, at risk,
-- with a person of ours, or being answered; nobody who got such a mail lately.
WITH people AS (
    SELECT p.participant_id, p.name, p.addr, p.state, person_ids(p.participant_id) AS person
    FROM participants p
    WHERE p.workspace = %(workspace)s AND p.last_seen_at <= %(silent_since)s
      AND (cardinality(%(states)s::text[]) = 0 OR p.state = ANY(%(states)s)))
SELECT p.participant_id, p.name, last.thread_id, last.at AS last_at, fact.value AS day, goal.text AS goal,
       (p.person)[1] AS person
FROM people p
JOIN LATERAL (
    SELECT m.thread_id, m.participant_id, m.received_at AS at, t.inbox FROM mails m JOIN threads t USING (thread_id)
    WHERE m.workspace = %(workspace)s AND m.participant_id = ANY(p.person) AND m.trusted
      AND m.verdict IN ('answer', 'human')
    ORDER BY m.received_at DESC, m.mail_id LIMIT 1) last ON last.participant_id = p.participant_id
LEFT JOIN LATERAL (
    SELECT f.value FROM facts f
    WHERE f.workspace = %(workspace)s AND f.participant_id = ANY(p.person) AND f.key = %(fact)s
      AND f.superseded_at IS NULL AND f.merged_into IS NULL AND (f.expires_at IS NULL OR f.expires_at > %(now)s)
    ORDER BY f.valid_from DESC, f.fact_id LIMIT 1) fact ON true
LEFT JOIN LATERAL (
    SELECT g.text FROM goals g
    WHERE g.workspace = %(workspace)s AND g.participant_id = ANY(p.person) AND g.closed_at IS NULL
      AND g.added_at <= %(goal_since)s
    ORDER BY g.added_at, g.goal_id LIMIT 1) goal ON true
WHERE last.inbox = %(inbox)s AND last.at <= %(silent_since)s
  AND (%(fact)s = '' OR fact.value IS NOT NULL)
  AND (NOT %(with_goal)s OR goal.text IS NOT NULL)
  AND (%(without)s = '' OR NOT EXISTS (
        SELECT FROM facts f WHERE f.workspace = %(workspace)s AND f.participant_id = ANY(p.person) AND f.key = %(without)s
        AND f.superseded_at IS NULL AND (f.expires_at IS NULL OR f.expires_at > %(now)s)))
  AND coalesce((SELECT max(l.at) FROM participant_log l WHERE l.participant_id = p.participant_id AND l.refused = ''
                AND l.to_state = p.state), '-infinity') <= %(state_since)s
  AND NOT EXISTS (SELECT FROM deliveries d WHERE d.workspace = %(workspace)s AND d.thread_id = last.thread_id
                  AND d.sent_at > %(silent_since)s)
  AND NOT EXISTS (SELECT FROM participants q WHERE q.participant_id = ANY(p.person)
                  AND (q.state IN ('at_risk', 'churned') OR q.risk = 'high'))
  AND NOT EXISTS (SELECT FROM suppressions s JOIN participants q ON q.participant_id = ANY(p.person)
                  WHERE s.workspace = %(workspace)s AND s.addr = lower(q.addr COLLATE "C"))
  AND NOT EXISTS (SELECT FROM unsubscribes u WHERE u.participant_id = ANY(p.person))
  AND NOT EXISTS (SELECT FROM threads t WHERE t.workspace = %(workspace)s AND t.participant_id = ANY(p.person)
                  AND (t.state = 'escalated' OR t.open_turn IS NOT NULL))
  AND NOT EXISTS (SELECT FROM outreach o WHERE o.participant_id = ANY(p.person) AND o.proposed_at > %(person_since)s)
ORDER BY last.at, p.participant_id LIMIT %(most)s;

-- name: not_erased
-- Who of some people is still known; until the end of the transaction they are not erased.
SELECT participant_id FROM participants WHERE participant_id = ANY(%(people)s) ORDER BY participant_id FOR KEY SHARE;

-- name: known
SELECT outreach_id FROM outreach WHERE outreach_id = ANY(%(ids)s);

-- name: proposed_since
-- How many drafts of an inbox were proposed since a moment.
SELECT count(*)::int AS n FROM outreach
WHERE workspace = %(workspace)s AND inbox = %(inbox)s AND proposed_at >= %(since)s;

-- name: outreach
SELECT outreach_id, participant_id, state, sent_at FROM outreach
WHERE outreach_id = %(outreach_id)s AND book_id = %(book_id)s;

-- name: unanswered
-- The newest mail of outreach that a person got within some days and has not answered.
SELECT outreach_id, participant_id, state, sent_at FROM outreach
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) AND state = 'sent'
  AND sent_at BETWEEN %(since)s AND %(until)s
ORDER BY sent_at DESC, outreach_id LIMIT 1;

-- name: lately
-- The newest mail of outreach to a person that was proposed within some days, and has left or may still.
SELECT outreach_id FROM outreach
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) AND state IN ('proposed', 'sent', 'answered')
  AND proposed_at BETWEEN %(since)s AND %(until)s
ORDER BY proposed_at DESC, outreach_id LIMIT 1;

-- name: answered_since
-- Whether a person has written, proven, since a moment.
SELECT mail_id FROM mails
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) AND trusted
  AND verdict IN ('answer', 'human') AND received_at > %(since)s LIMIT 1;

-- name: unsubscribed
SELECT participant_id FROM unsubscribes
WHERE participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[]) ORDER BY participant_id;

-- name: insert_outreach
INSERT INTO outreach (outreach_id, book_id, workspace, inbox, participant_id, thread_id, turn_id, rule, reason,
                      proposed_at, changed_at)
VALUES (%(outreach_id)s, %(book_id)s, %(workspace)s, %(inbox)s, %(participant_id)s, %(thread_id)s, %(turn_id)s, %(rule)s,
        %(reason)s, %(at)s, %(at)s);

-- name: set_state
UPDATE outreach SET state = %(state)s, changed_at = %(at)s,
    sent_at = CASE WHEN %(state)s = 'sent' THEN %(at)s ELSE sent_at END
WHERE outreach_id = %(outreach_id)s;

-- name: unsubscribe
INSERT INTO unsubscribes (participant_id, book_id, workspace, outreach_id, how, at)
VALUES (%(participant_id)s, %(book_id)s, %(workspace)s, %(outreach_id)s, %(how)s, %(at)s) ON CONFLICT DO NOTHING;

-- name: lift
DELETE FROM unsubscribes WHERE participant_id = %(participant_id)s;
