-- Of a person with one address no fact gives way to another address: asked of each of 2,000 facts that took two seconds.
-- depends: 0581_fact_uses

CREATE OR REPLACE FUNCTION period_rows(who uuid, since timestamptz, until timestamptz, moment timestamptz)
RETURNS TABLE (id uuid, what text, whose uuid, at timestamptz, text text, weight real, mark text)
LANGUAGE sql STABLE AS $$
    WITH person AS MATERIALIZED (SELECT person_ids(who) AS people),
    theirs AS MATERIALIZED (
        SELECT t.thread_id, t.subject FROM threads t
        WHERE t.thread_id IN (SELECT m.thread_id FROM mails m WHERE m.participant_id = who AND m.trusted)
          AND NOT EXISTS (SELECT FROM mails m WHERE m.thread_id = t.thread_id AND m.participant_id IS DISTINCT FROM who)),
    believed AS MATERIALIZED (
        SELECT f.fact_id, f.valid_from, least(f.valid_to, f.expires_at) AS ended, f.text, f.importance FROM facts f
        WHERE f.participant_id = who AND f.workspace = (SELECT p.workspace FROM participants p WHERE p.participant_id = who)
          AND f.retracted_at IS NULL AND f.merged_into IS NULL AND f.stale_since IS NULL
          AND (f.superseded_at IS NULL OR f.valid_to IS NOT NULL)
          AND NOT CASE WHEN f.superseded_at IS NULL AND cardinality((SELECT people FROM person)) > 1
                       THEN outranked((SELECT people FROM person), f.fact_id, moment) ELSE false END),
    found AS (
        SELECT fact_id, 'began', fact_id, valid_from, text, importance FROM believed
        UNION ALL
        SELECT ending_of(fact_id), 'ended', fact_id, ended, format('until then: %s', text), importance
        FROM believed WHERE ended <= moment
        UNION ALL
        SELECT s.summary_id, 'summary', s.thread_id, s.updated_at, format('«%s»: %s', t.subject, s.text), 0.5
        FROM theirs t JOIN thread_summaries s USING (thread_id) WHERE s.participant_id = who AND s.trusted
        UNION ALL
        SELECT md5(format('%s/%s/action', a.thread_id, a.version))::uuid, 'action', a.thread_id, a.at,
               format('«%s»: %s %s', t.subject, a.action, a.detail), 0.4
        FROM theirs t JOIN thread_actions a USING (thread_id) WHERE NOT unproven_moment(a.thread_id, a.at)
        UNION ALL
        SELECT md5(format('%s/%s/outcome', l.thread_id, l.version))::uuid, 'outcome', l.thread_id, l.at,
               format('«%s» became %s', t.subject, replace(l.to_state, '_', ' ')), 0.3
        FROM theirs t JOIN thread_log l USING (thread_id)
        WHERE l.refused = '' AND l.to_state IN ('escalated', 'resolved', 'closed')
        UNION ALL
        SELECT md5(format('%s/%s/standing', l.participant_id, l.version))::uuid, 'standing', l.participant_id, l.at,
               format('became %s', replace(l.to_state, '_', ' ')), 0.9
        FROM participant_log l WHERE l.participant_id = who AND l.refused = '')
    SELECT one.id, one.what, one.whose, one.at, one.text, one.weight::real,
           md5(one.what || extract(epoch FROM one.at) || one.text) AS mark
    FROM found AS one (id, what, whose, at, text, weight) WHERE one.at >= since AND one.at < until
$$;
