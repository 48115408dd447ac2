-- One person under several addresses: an alias for each, and who belongs together.
-- depends: 0110_alerts

CREATE TABLE participant_aliases (
    participant_id uuid PRIMARY KEY,
    workspace      text NOT NULL,
    into_id        uuid NOT NULL,
    by             text NOT NULL,
    reason         text NOT NULL,
    event_id       uuid NOT NULL,
    at             timestamptz NOT NULL
);
CREATE INDEX participant_aliases_by_into ON participant_aliases (into_id);
COMMENT ON TABLE participant_aliases IS
'Who is the same person as whom. Nothing is copied and nothing moved: each keeps what was learned under their own address, readers put it together, and without the row all is as it was.';

CREATE FUNCTION person_ids(who uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
    WITH RECURSIVE
    up (id) AS (
        SELECT who
        UNION SELECT a.into_id FROM participant_aliases a JOIN up ON a.participant_id = up.id
    ),
    together (id) AS (
        SELECT up.id FROM up
        UNION SELECT a.participant_id FROM participant_aliases a JOIN together t ON a.into_id = t.id
    )
    SELECT array_agg(id ORDER BY id) FROM together
$$;
COMMENT ON FUNCTION person_ids IS 'Everybody who is the same person as one participant, themselves included.';

CREATE FUNCTION outranked(people uuid[], id uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    WITH said AS (
        SELECT f.fact_id, f.participant_id, f.workspace, f.key, lower(f.value) AS value, f.single_valued,
               CASE f.trust WHEN 'human' THEN 2 WHEN 'authenticated' THEN 1 ELSE 0 END AS rank,
               greatest(f.valid_from, (SELECT max(s.said_at) FROM fact_sources s WHERE s.fact_id = f.fact_id)) AS at
        FROM facts f
        WHERE f.superseded_at IS NULL
          AND (f.fact_id = id OR f.key = (SELECT key FROM facts WHERE fact_id = id) AND f.participant_id = ANY(people))
    )
    SELECT EXISTS (
        SELECT 1 FROM said own JOIN said rival ON rival.participant_id <> own.participant_id
        WHERE own.fact_id = id AND rival.workspace = own.workspace
          AND (own.single_valued AND rival.single_valued OR rival.value = own.value)
          AND (rival.rank, rival.at, rival.fact_id) > (own.rank, own.at, own.fact_id)
    )
$$;
COMMENT ON FUNCTION outranked(uuid[], uuid) IS
'Whether a current fact gives way to another one of the same person under another address: of a key with one value, or of one value twice, the one of higher trust stands (human, authenticated, inferred), then the one said last.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
