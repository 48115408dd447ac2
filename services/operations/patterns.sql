-- name: patterns
-- Intents with what became of their drafts, those of an inbox, where it is given, and of an intent.
SELECT a.approval_id, a.inbox, a.intent, a.is_open, a.changed_at, a.changed_by, a.reason,
       (SELECT coalesce(jsonb_object_agg(p.type, jsonb_build_object(
            'occurrences', p.occurrences, 'last_seen', p.last_seen, 'data', p.data)), '{}')
        FROM approval_patterns p WHERE p.approval_id = a.approval_id) AS seen,
       ARRAY(SELECT o.outcome = 'unchanged' FROM approval_outcomes o
             WHERE o.approval_id = a.approval_id AND o.outcome <> 'held'
               AND (a.counted_from IS NULL OR o.at >= a.counted_from)
             ORDER BY o.at DESC, o.reply_id DESC, o.outcome LIMIT %(over)s) AS decisions
FROM approvals a
WHERE a.workspace = %(workspace)s AND (%(inbox)s::text IS NULL OR a.inbox = %(inbox)s)
  AND (%(intent)s::text IS NULL OR a.intent = %(intent)s)
ORDER BY a.inbox, a.intent;
