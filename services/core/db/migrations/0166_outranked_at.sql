-- What has ended by itself outranks nothing: which fact of a person stands is asked as of a moment.
-- depends: 0165_standing_by_valid_time

DROP FUNCTION outranked (uuid[], uuid);

CREATE FUNCTION outranked(people uuid[], id uuid, moment timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    WITH said AS (
        SELECT f.fact_id, f.participant_id, f.workspace, f.key, lower(f.value) AS value, f.single_valued, f.expires_at,
               CASE f.trust WHEN 'human' THEN 2 WHEN 'authenticated' THEN 1 ELSE 0 END AS rank,
               greatest(f.valid_from, (SELECT max(s.said_at) FROM fact_sources s WHERE s.fact_id = f.fact_id)) AS at
        FROM facts f
        WHERE f.superseded_at IS NULL
          AND (f.fact_id = id OR f.key = (SELECT key FROM facts WHERE fact_id = id) AND f.participant_id = ANY(people))
    )
    SELECT EXISTS (
        SELECT 1 FROM said own JOIN said rival ON rival.participant_id <> own.participant_id
        WHERE own.fact_id = id AND rival.workspace = own.workspace
          AND (rival.expires_at IS NULL OR rival.expires_at > moment)
          AND (own.single_valued AND rival.single_valued OR rival.value = own.value)
          AND (rival.rank, rival.at, rival.fact_id) > (own.rank, own.at, own.fact_id)
    )
$$;
COMMENT ON FUNCTION outranked(uuid[], uuid, timestamptz) IS
'Whether a current fact gives way to another one of the same person under another address that has not ended by itself: of a key with one value, or of one value twice, the one of higher trust stands (human, authenticated, inferred), then the one said last.';
