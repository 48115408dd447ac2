-- name: people
-- The next participants of a workspace, by id.
SELECT coalesce(array_agg(participant_id ORDER BY participant_id), '{}') AS ids FROM (
    SELECT participant_id FROM participants WHERE workspace = %(workspace)s AND participant_id > %(after)s
    ORDER BY participant_id LIMIT %(limit)s) AS next;

-- name: due
-- The periods of some people that are over, in which enough came to pass, and that were not told: each grain since a moment.
WITH rows AS MATERIALIZED (
    SELECT one.id AS participant_id, r.at AT TIME ZONE 'UTC' AS at
    FROM unnest(%(people)s::uuid[]) AS one (id)
    CROSS JOIN LATERAL period_rows(one.id, '-infinity', %(moment)s, %(moment)s) AS r),
counted AS (
    SELECT r.participant_id, g.grain, date_trunc(g.unit, r.at) AT TIME ZONE 'UTC' AS starts_at, count(*) AS rows
    FROM rows r CROSS JOIN unnest(%(grains)s::text[], %(units)s::text[], %(begins)s::timestamptz[],
                                  %(running)s::timestamptz[]) AS g (grain, unit, begins, running)
    WHERE date_trunc(g.unit, r.at) AT TIME ZONE 'UTC' >= g.begins AND r.at AT TIME ZONE 'UTC' < g.running
    GROUP BY 1, 2, 3)
SELECT c.participant_id, c.grain, c.starts_at FROM counted c
WHERE c.rows >= %(rows_from)s AND NOT EXISTS (
    SELECT FROM memory_periods p
    WHERE p.participant_id = c.participant_id AND p.grain = c.grain AND p.starts_at = c.starts_at);

-- name: asked
-- Which of some periods were asked for, and whether each still waits to be told: one that became a dead letter waits for a
-- person.
SELECT e.id, NOT EXISTS (SELECT FROM dead_letter_places d WHERE d.event_id = e.id) AS waits
FROM events e WHERE e.id = ANY(%(ids)s);

-- name: calls
-- How many calls of the model were made for periods since the beginning of a day.
SELECT coalesce(sum(calls), 0)::int AS calls FROM memory_periods
WHERE workspace = %(workspace)s AND made_at >= %(since)s;

-- name: known
-- Whether somebody is known; until the end of the transaction they are not erased.
SELECT participant_id FROM participants WHERE participant_id = %(participant_id)s FOR KEY SHARE;

-- name: told
-- The latest told periods of a person, under all of their addresses, and whether each still stands.
SELECT p.period_id, p.participant_id, p.grain, p.period, p.starts_at, p.ends_at, p.sentences, cardinality(p.row_ids) AS rows,
       p.left_out, p.dropped, p.made_at,
       p.period_id IN (SELECT s.period_id FROM standing_periods(%(participant_id)s, %(moment)s) s) AS stands
FROM memory_periods p
WHERE p.workspace = %(workspace)s AND p.participant_id = ANY((SELECT person_ids(%(participant_id)s))::uuid[])
  AND (%(grain)s::text IS NULL OR p.grain = %(grain)s)
ORDER BY p.ends_at DESC, p.starts_at DESC, p.participant_id LIMIT %(limit)s;
