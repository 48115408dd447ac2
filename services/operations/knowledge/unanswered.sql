-- Questions of customers that the knowledge base did not answer, read from what became of their mails. Nothing is stored.

-- name: newest_mail
-- When the newest mail came that may count.
SELECT m.received_at AS at FROM mails m
WHERE m.workspace = %(workspace)s AND m.mode = 'live' AND m.trusted AND m.verdict = 'answer' AND m.gone_at IS NULL
ORDER BY m.received_at DESC LIMIT 1;

-- name: unanswered
-- Of the newest live mails of proven customers since then: those that a person was asked for, that a person answered, whose draft
-- a person rejected or largely rewrote, or whose reply cites no passage. `answer_id` is the first answer in a
-- person's words before the customer wrote again, `looked_at` how many mails were looked at.
WITH newest AS MATERIALIZED (
    SELECT m.mail_id, m.thread_id, m.participant_id, m.space, m.inbox, m.received_at
    FROM mails m
    WHERE m.workspace = %(workspace)s AND m.received_at >= %(since)s AND m.mode = 'live' AND m.trusted
      AND m.verdict = 'answer' AND m.gone_at IS NULL
    ORDER BY m.received_at DESC, m.mail_id DESC LIMIT %(mails)s
),
judged AS (
    SELECT n.*, became.*,
           EXISTS (SELECT FROM conversation a WHERE a.thread_id = n.thread_id AND (a.role = 'human' OR a.by <> '')) AS has_people
    FROM newest n
    CROSS JOIN LATERAL (
        SELECT coalesce(bool_or(u.outcome = 'escalated'), false) AS escalated,
               coalesce(bool_or(o.outcome = 'rejected' OR o.edited >= %(largely)s), false) AS rewritten,
               coalesce(bool_or(d.score IS NOT NULL AND d.state IN ('sent', 'bounced') AND u.by = ''
                   AND NOT EXISTS (SELECT FROM citations q WHERE q.reply_id = d.reply_id)), false) AS uncited,
               (array_agg(o.reply_id ORDER BY o.at DESC) FILTER (WHERE o.outcome = 'edited' AND o.edited >= %(largely)s))[1] AS edited_id
        FROM turns u LEFT JOIN deliveries d USING (turn_id)
        LEFT JOIN approval_outcomes o ON o.reply_id = d.reply_id AND o.outcome IN ('edited', 'rejected')
        WHERE u.thread_id = n.thread_id AND n.mail_id = ANY(u.mail_ids)
    ) became
),
followed AS (
    SELECT j.*, c.text, person.reply_id AS by_hand
    FROM judged j
    JOIN LATERAL (
        SELECT c.text, c.version FROM conversation c
        WHERE c.thread_id = j.thread_id AND c.mail_id = j.mail_id AND c.role = 'customer' AND c.gone_at IS NULL
        OFFSET 0  -- by its thread, mail by mail: joined as a table, all of conversation is read
    ) c ON true
    LEFT JOIN LATERAL (
        SELECT a.reply_id FROM conversation a
        WHERE j.has_people AND a.thread_id = j.thread_id AND a.version > c.version AND (a.role = 'human' OR a.by <> '') AND a.gone_at IS NULL
          AND NOT EXISTS (SELECT FROM conversation o WHERE o.thread_id = j.thread_id AND o.role = 'customer'
                          AND o.version > c.version AND o.version < a.version)
        ORDER BY a.version LIMIT 1
    ) person ON true
    WHERE j.escalated OR j.rewritten OR j.uncited OR j.has_people
)
SELECT f.mail_id, f.thread_id, f.space, f.inbox, f.received_at AS at, f.text,
       coalesce((SELECT (person_ids(f.participant_id))[1]), f.thread_id) AS person,
       array_remove(ARRAY[
           CASE WHEN f.escalated THEN 'escalated' END,
           CASE WHEN f.by_hand IS NOT NULL THEN 'answered_by_hand' END,
           CASE WHEN f.rewritten THEN 'rewritten' END,
           CASE WHEN f.uncited THEN 'nothing_cited' END], NULL) AS reasons,
       coalesce(f.by_hand, f.edited_id) AS answer_id,
       (SELECT count(*) FROM newest) AS looked_at
FROM followed f
WHERE f.escalated OR f.by_hand IS NOT NULL OR f.rewritten OR f.uncited
ORDER BY f.received_at DESC, f.mail_id DESC;

-- name: articles_of
-- What was proposed from answers in these threads.
SELECT document_id, thread_id, reply_id, state, decided_at FROM proposals
WHERE workspace = %(workspace)s AND thread_id = ANY(%(thread_ids)s) ORDER BY proposed_at, document_id;
