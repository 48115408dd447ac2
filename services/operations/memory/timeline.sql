-- name: moments
-- What came to pass with a person, under all of their addresses, the newest first: each sort by its own index, and no more of it
-- than a page shows. What is not proven to be theirs is left out, as are facts that were never so, or are shown as another.
WITH person AS MATERIALIZED (SELECT person_ids(%(participant_id)s) AS people),
addresses AS MATERIALIZED (
    SELECT array_agg(DISTINCT lower(addr COLLATE "C")) AS addrs FROM participants
    WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT people FROM person)::uuid[])),
theirs AS MATERIALIZED (
    SELECT DISTINCT thread_id FROM mails
    WHERE workspace = %(workspace)s AND participant_id = ANY((SELECT people FROM person)::uuid[]) AND trusted),
after AS (SELECT %(after_at)s::timestamptz AS at, %(after_what)s::text COLLATE "C" AS what, %(after_id)s::uuid AS id)
SELECT at, what, id, thread_id, text, more FROM (
    (SELECT f.valid_from AS at, 'fact_began' AS what, f.fact_id AS id, NULL::uuid AS thread_id, f.text, f.key AS more
     FROM facts f, after a
     WHERE f.workspace = %(workspace)s AND f.participant_id = ANY((SELECT people FROM person)::uuid[])
       AND f.retracted_at IS NULL AND f.merged_into IS NULL AND f.stale_since IS NULL AND f.valid_from <= %(now)s
       AND (f.valid_from, 'fact_began', f.fact_id) < (a.at, a.what, a.id)
     ORDER BY f.valid_from DESC, f.fact_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT least(f.valid_to, f.expires_at), 'fact_ended', f.fact_id, NULL, f.text, f.key
     FROM facts f, after a
     WHERE f.workspace = %(workspace)s AND f.participant_id = ANY((SELECT people FROM person)::uuid[])
       AND f.retracted_at IS NULL AND f.merged_into IS NULL AND f.stale_since IS NULL
       AND least(f.valid_to, f.expires_at) <= %(now)s
       AND (least(f.valid_to, f.expires_at), 'fact_ended', f.fact_id) < (a.at, a.what, a.id)
     ORDER BY 1 DESC, f.fact_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT written_at(m.mode, m.sent_at, m.received_at), 'mail', m.mail_id, m.thread_id, m.subject, ''
     FROM mails m, after a
     WHERE m.workspace = %(workspace)s AND m.participant_id = ANY((SELECT people FROM person)::uuid[]) AND m.trusted
       AND (written_at(m.mode, m.sent_at, m.received_at), 'mail', m.mail_id) < (a.at, a.what, a.id)
     ORDER BY 1 DESC, m.mail_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT coalesce(d.sent_at, d.changed_at), 'reply', d.reply_id, d.thread_id,
            (SELECT h.subject FROM threads h WHERE h.thread_id = d.thread_id), ''
     FROM after a, theirs t JOIN deliveries d USING (thread_id)
     WHERE d.workspace = %(workspace)s AND lower(d.recipient COLLATE "C") = ANY((SELECT addrs FROM addresses)::text[])
       AND d.state = 'sent' AND NOT unproven_turn(d.turn_id)
       AND (coalesce(d.sent_at, d.changed_at), 'reply', d.reply_id) < (a.at, a.what, a.id)
     ORDER BY 1 DESC, d.reply_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT p.ends_at - interval '1 second', 'period', p.period_id, NULL, p.text, p.grain || ' ' || p.period
     FROM after a, memory_periods p
     JOIN unnest(%(grains)s::text[], %(since)s::timestamptz[]) AS k (grain, since) ON p.grain = k.grain AND p.ends_at > k.since
     WHERE p.workspace = %(workspace)s AND p.participant_id = ANY((SELECT people FROM person)::uuid[]) AND p.text <> ''
       AND p.period_id IN (SELECT s.period_id FROM standing_periods(%(participant_id)s, %(now)s) s)
       AND (p.ends_at - interval '1 second', 'period', p.period_id) < (a.at, a.what, a.id)
     ORDER BY 1 DESC, p.period_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT o.proposed_at, 'outreach', o.outreach_id, o.thread_id, o.rule, o.state
     FROM outreach o, after a
     WHERE o.workspace = %(workspace)s AND o.participant_id = ANY((SELECT people FROM person)::uuid[])
       AND (o.proposed_at, 'outreach', o.outreach_id) < (a.at, a.what, a.id)
     ORDER BY 1 DESC, o.outreach_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT r.said_at, 'incident', r.report_id, r.thread_id, r.trouble, r.incident_id::text
     FROM trouble_reports r, after a
     WHERE r.workspace = %(workspace)s AND r.participant_id = ANY((SELECT people FROM person)::uuid[])
       AND r.incident_id IS NOT NULL AND (r.said_at, 'incident', r.report_id) < (a.at, a.what, a.id)
     ORDER BY 1 DESC, r.report_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT l.at, 'standing', md5(format('%%s/%%s', l.participant_id, l.version))::uuid, NULL, l.to_state, l.reason
     FROM participant_log l, after a
     WHERE l.workspace = %(workspace)s AND l.participant_id = ANY((SELECT people FROM person)::uuid[]) AND l.refused = ''
       AND (l.at, 'standing', md5(format('%%s/%%s', l.participant_id, l.version))::uuid) < (a.at, a.what, a.id)
     ORDER BY 1 DESC, 3 DESC LIMIT %(limit)s)
) AS found
ORDER BY at DESC, what COLLATE "C" DESC, id DESC LIMIT %(limit)s;
