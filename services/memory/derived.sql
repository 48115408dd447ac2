-- name: rests
-- What some facts were derived from, directly or through others: when each of those ends by itself, where it is believed until
-- then, and until when the one derived from it was last said to be so, as far as it was said by `valid_at` and learned by
-- `known_at`. A fact that was merged into another ends with that one. Few facts are derived, which the planner cannot know:
-- OFFSET 0 has each of theirs looked up by its key, instead of joining all facts with all facts.
WITH RECURSIVE up AS (
    SELECT fact_id, parent_id FROM fact_parents WHERE workspace = %(workspace)s AND fact_id = ANY(%(fact_ids)s)
    UNION
    SELECT p.fact_id, p.parent_id FROM up JOIN fact_parents p ON p.fact_id = up.parent_id
)
SELECT up.fact_id, up.parent_id, shown.over_at,
       coalesce((SELECT max(s.said_at) FROM fact_sources s WHERE s.fact_id = up.fact_id AND s.said_at <= %(valid_at)s
                                                            AND s.at <= %(known_at)s), child.valid_from) AS confirmed_at
FROM up
CROSS JOIN LATERAL (SELECT valid_from FROM facts WHERE fact_id = up.fact_id OFFSET 0) AS child
CROSS JOIN LATERAL (SELECT coalesce(merged_into, fact_id) AS id FROM facts WHERE fact_id = up.parent_id OFFSET 0) AS parent
CROSS JOIN LATERAL (
    SELECT CASE WHEN superseded_at IS NULL OR superseded_at > expires_at THEN expires_at END AS over_at
    FROM facts WHERE fact_id = parent.id OFFSET 0) AS shown
ORDER BY up.fact_id, up.parent_id;
