-- Days to years of a participant in a few sentences of a model, each of which names the rows that it rests on.
-- depends: 0540_assigned_threads

CREATE FUNCTION ending_of(fact uuid) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT md5(fact::text || 'ended')::uuid $$;
COMMENT ON FUNCTION ending_of IS 'The id of the row that says that a fact ended; the fact''s own id is that of its beginning.';

CREATE FUNCTION period_rows(who uuid, since timestamptz, until timestamptz, moment timestamptz)
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
          AND NOT (f.superseded_at IS NULL AND outranked((SELECT people FROM person), f.fact_id, moment))),
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
COMMENT ON FUNCTION period_rows IS
'What came to pass with one participant, under this one address, within a time, as it is believed now: facts that began or ended and still count, of threads in which nobody else wrote the summary, the actions and how they ended, and steps of the lifecycle. `mark` is another one where a row says something else.';

CREATE TABLE memory_periods (
    participant_id  uuid NOT NULL,
    grain           text NOT NULL CHECK (grain IN ('daily', 'weekly', 'monthly', 'quarterly', 'yearly')),
    period          text NOT NULL,
    workspace       text NOT NULL,
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz NOT NULL,
    text            text NOT NULL,
    sentences       jsonb NOT NULL,
    row_ids         uuid[] NOT NULL,
    row_marks       text[] NOT NULL,
    left_out        int NOT NULL,
    dropped         text[] NOT NULL,
    calls           int NOT NULL,
    version         int NOT NULL,
    made_at         timestamptz NOT NULL,
    period_id       uuid GENERATED ALWAYS AS (md5(participant_id::text || grain || period)::uuid) STORED,
    tsv             tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED,
    embedding       halfvec,
    embedding_model text,
    PRIMARY KEY (participant_id, grain, period),
    CONSTRAINT memory_periods_vector_has_model CHECK ((embedding IS NULL) = (embedding_model IS NULL))
);
CREATE INDEX memory_periods_by_model ON memory_periods (workspace, embedding_model);
CREATE INDEX memory_periods_by_day ON memory_periods (workspace, made_at);
COMMENT ON TABLE memory_periods IS 'A participant''s ended periods, each told once, after its end.';
COMMENT ON COLUMN memory_periods.sentences IS 'Each with its text and the rows that it names; none where nothing of the answer held.';
COMMENT ON COLUMN memory_periods.row_ids IS 'The rows that the model was shown, with what they said then (`row_marks`): it is shown only while all of them stand.';
COMMENT ON COLUMN memory_periods.left_out IS 'How many rows were too many to be shown.';
COMMENT ON COLUMN memory_periods.dropped IS 'Why sentences did not hold, one entry each.';
COMMENT ON COLUMN memory_periods.embedding IS 'Cache of the vector of the text. Outside of every state hash.';
COMMENT ON COLUMN memory_periods.embedding_model IS 'Whose vector it is. Outside of every state hash.';

CREATE FUNCTION standing_periods(who uuid, moment timestamptz) RETURNS SETOF memory_periods LANGUAGE sql STABLE AS $$
    WITH told AS MATERIALIZED (
        SELECT p.* FROM memory_periods p
        WHERE p.participant_id = ANY((SELECT person_ids(who))::uuid[]) AND p.text <> ''),
    there AS MATERIALIZED (
        SELECT of.participant_id, r.id, r.mark
        FROM (SELECT participant_id, min(starts_at) AS since, max(ends_at) AS until FROM told GROUP BY 1) AS of
        CROSS JOIN LATERAL period_rows(of.participant_id, of.since, of.until, moment) AS r)
    SELECT t.* FROM told t WHERE NOT EXISTS (
        SELECT FROM unnest(t.row_ids, t.row_marks) AS one (id, mark)
        WHERE (t.participant_id, one.id, one.mark) NOT IN (SELECT participant_id, id, mark FROM there))
$$;
COMMENT ON FUNCTION standing_periods IS
'The told periods of a person, under all of their addresses, of which every row still stands and says what it said.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
