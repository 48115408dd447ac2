-- name: rests
-- What some facts were derived from, directly or through others: when each of those ends by itself, where it is believed until
-- then, and until when the one derived from it was last said to be so, as far as it was said by `valid_at` and learned by
-- `known_at`. A fact that was merged into another ends with that one.
WITH RECURSIVE up AS (
    SELECT fact_id, parent_id FROM fact_parents WHERE workspace = %(workspace)s AND fact_id = ANY(%(fact_ids)s)
    UNION
    SELECT p.fact_id, p.parent_id FROM up JOIN fact_parents p ON p.fact_id = up.parent_id
)
SELECT up.fact_id, up.parent_id,
       CASE WHEN shown.superseded_at IS NULL OR shown.superseded_at > shown.expires_at THEN shown.expires_at END AS over_at,
       coalesce((SELECT max(s.said_at) FROM fact_sources s WHERE s.fact_id = up.fact_id AND s.said_at <= %(valid_at)s
                                                            AND s.at <= %(known_at)s), child.valid_from) AS confirmed_at
FROM up
JOIN facts child ON child.fact_id = up.fact_id
JOIN facts parent ON parent.fact_id = up.parent_id
JOIN facts shown ON shown.fact_id = coalesce(parent.merged_into, parent.fact_id)
ORDER BY up.fact_id, up.parent_id;
