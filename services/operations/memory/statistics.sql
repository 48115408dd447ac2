-- What a workspace's memory holds and was used for: counted, of nobody by name.

-- name: kinds
-- The facts of each kind by how they stand; each fact is counted in one of the columns after `stored`, `pinned` beside.
SELECT kind, count(*) AS stored,
       count(*) FILTER (WHERE is_current AND NOT is_over AND stale_since IS NULL) AS current,
       count(*) FILTER (WHERE is_current AND NOT is_over AND stale_since IS NOT NULL) AS doubtful,
       count(*) FILTER (WHERE is_current AND is_over) AS expired,
       count(*) FILTER (WHERE retracted_at IS NOT NULL) AS withdrawn,
       count(*) FILTER (WHERE retracted_at IS NULL AND merged_into IS NOT NULL) AS merged,
       count(*) FILTER (WHERE NOT is_current AND retracted_at IS NULL AND merged_into IS NULL) AS replaced,
       count(*) FILTER (WHERE is_current AND pinned) AS pinned
FROM (
    SELECT *, superseded_at IS NULL AS is_current, coalesce(expires_at <= %(now)s, FALSE) AS is_over
    FROM facts WHERE workspace = %(workspace)s
) AS one
GROUP BY kind ORDER BY stored DESC, kind;

-- name: decisions
-- How often each thing was decided about facts in each week (of UTC, from Monday).
SELECT date_trunc('week', at AT TIME ZONE 'UTC')::date AS week, decision, count(*) AS times FROM fact_log
WHERE workspace = %(workspace)s AND at BETWEEN %(since)s AND %(now)s
GROUP BY week, decision ORDER BY week, decision;

-- name: refusals
-- Why proposals and requests were refused, the most frequent reason first; what is quoted in a reason (as Python's
-- `repr` quotes it) is left out.
SELECT regexp_replace(reason, '''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*"', '…', 'g') AS why, count(*) AS times FROM fact_log
WHERE workspace = %(workspace)s AND at >= %(since)s AND decision LIKE '%% refused'
GROUP BY why ORDER BY times DESC, why LIMIT %(limit)s;

-- name: periods
-- What came of the periods that a model was to tell, by grain.
SELECT grain, count(*) FILTER (WHERE text <> '') AS told, count(*) FILTER (WHERE text = '') AS empty,
       sum(jsonb_array_length(sentences)) AS sentences, sum(cardinality(dropped)) AS dropped, sum(left_out) AS rows_left_out
FROM memory_periods WHERE workspace = %(workspace)s
GROUP BY grain ORDER BY array_position(ARRAY['daily', 'weekly', 'monthly', 'quarterly', 'yearly'], grain);

-- name: unused
-- Facts that are in no prompt since nothing asks for them: what `unused` of load_memory says of those of one person.
SELECT count(*) AS facts FROM facts f LEFT JOIN fact_uses u USING (fact_id)
WHERE f.workspace = %(workspace)s AND f.superseded_at IS NULL AND coalesce(f.expires_at > %(now)s, TRUE)
  AND NOT f.pinned AND f.importance < %(below)s
  AND EXISTS (SELECT FROM fact_uses_counted c WHERE c.workspace = %(workspace)s)
  AND greatest(f.recorded_at, u.asked_at, u.cited_at, (SELECT max(s.at) FROM fact_sources s WHERE s.fact_id = f.fact_id)) < %(before)s;

-- name: inboxes
-- The inboxes of threads, and of investigations by their own ids.
SELECT thread_id AS id, inbox FROM threads WHERE thread_id = ANY(%(ids)s::uuid[])
UNION ALL SELECT i.investigation_id, t.inbox FROM investigations i JOIN threads t ON t.thread_id = i.of_thread
WHERE i.investigation_id = ANY(%(ids)s::uuid[]);

-- name: first_since
-- Where the events of a time begin.
SELECT coalesce(min(seq), 0) - 1 AS seq FROM events WHERE time >= %(since)s;

-- name: told
-- The next events of a topic that say what was shown to the model and what it cost.
SELECT seq, type, time, data FROM events
WHERE topic = %(topic)s AND seq > %(after)s AND workspace = %(workspace)s AND type = ANY(%(types)s) AND time >= %(since)s
ORDER BY seq LIMIT %(limit)s;
