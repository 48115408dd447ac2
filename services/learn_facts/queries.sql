-- name: mails
-- The mails that a proposal may cite: this participant's of the turn, newest first, then their others of the thread, for
-- what a reflection that did not hold has left unlearned.
SELECT mail_id, thread_id, message_id, text, received_at, sent_at, mode, trusted, 'passed_on' = ANY(flags) AS passed_on FROM mails
WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND verdict IN ('answer', 'human')
  AND (mail_id = ANY(%(mail_ids)s) OR thread_id = %(thread_id)s)
ORDER BY mail_id = ANY(%(mail_ids)s) DESC, received_at DESC, mail_id LIMIT 50;

-- name: our_words
-- What we wrote in the thread and in those of the turn's mails, newest first; not what answered somebody unproven there.
-- The few rows come first: a join would ask of every delivery whether its turn is unproven.
WITH ours AS MATERIALIZED (
    SELECT thread_id, reply_id, text, at, version FROM conversation
    WHERE role <> 'customer' AND gone_at IS NULL AND thread_id = ANY(ARRAY(
        SELECT %(thread_id)s::uuid UNION SELECT thread_id FROM mails
        WHERE workspace = %(workspace)s AND participant_id = %(participant_id)s AND mail_id = ANY(%(mail_ids)s))))
SELECT thread_id, reply_id, text, at FROM ours
WHERE NOT coalesce((SELECT unproven_turn(d.turn_id) FROM deliveries d WHERE d.reply_id = ours.reply_id), false)
ORDER BY version DESC LIMIT 50;

-- name: our_words_elsewhere
-- What we wrote to this participant in other threads, newest first; not to whom only claimed to be them.
SELECT c.text, c.at, c.thread_id, c.reply_id FROM threads t JOIN conversation c USING (thread_id)
WHERE t.workspace = %(workspace)s AND t.participant_id = %(participant_id)s AND t.thread_id <> %(thread_id)s
  AND EXISTS (SELECT 1 FROM mails m WHERE m.thread_id = t.thread_id AND m.trusted)
  AND c.role <> 'customer' AND c.gone_at IS NULL
ORDER BY c.at DESC, c.thread_id, c.version LIMIT 100;

-- name: uncounted
-- How many of a turn's mails no earlier turn was learned from (a turn that failed or went to a person leaves them waiting,
-- and of one that was superseded that may be, while its reply waited), and whether the thread is over.
SELECT (SELECT count(*) FROM unnest(%(mail_ids)s::uuid[]) AS mail_id WHERE NOT EXISTS (
            SELECT 1 FROM turns t WHERE t.thread_id = %(thread_id)s AND t.turn_id <> %(turn_id)s
            AND mail_id = ANY(t.mail_ids)
            AND (t.outcome <> 'superseded' OR EXISTS (
                SELECT 1 FROM events e WHERE e.key = t.thread_id::text AND e.type = 'turn.reflected.v1'
                AND e.data ->> 'turn_id' = t.turn_id::text))
            AND t.version < (SELECT version FROM turns WHERE turn_id = %(turn_id)s))) AS mails,
       coalesce((SELECT state IN ('resolved', 'closed') FROM threads WHERE thread_id = %(thread_id)s), false) AS over;

-- name: wrote_in
-- Whether a participant wrote in a thread, proven: a thread is not theirs because somebody opened it in their name.
SELECT 1 AS wrote FROM mails
WHERE thread_id = %(thread_id)s AND participant_id = %(participant_id)s AND trusted LIMIT 1;
