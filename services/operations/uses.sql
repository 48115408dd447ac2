-- name: counted
-- How far the contexts of a workspace are counted.
SELECT seq FROM fact_uses_counted WHERE workspace = %(workspace)s FOR UPDATE;

-- name: contexts
-- The next stored contexts and drafts, but for those of the last minutes.
SELECT seq, time, type, data FROM events
WHERE topic = ANY(%(topics)s) AND seq > %(after)s AND workspace = %(workspace)s
  AND stored_at < clock_timestamp() - make_interval(secs => %(unseen_s)s)
ORDER BY seq LIMIT %(limit)s;

-- name: count
INSERT INTO fact_uses AS u (fact_id, participant_id, workspace, shown, asked, cited, shown_at, asked_at, cited_at)
SELECT f.fact_id, f.participant_id, f.workspace, one.shown, one.asked, one.cited, one.shown_at, one.asked_at, one.cited_at
FROM unnest(%(fact_ids)s::uuid[], %(shown)s::int[], %(asked)s::int[], %(cited)s::int[], %(shown_at)s::timestamptz[],
            %(asked_at)s::timestamptz[], %(cited_at)s::timestamptz[])
     AS one (fact_id, shown, asked, cited, shown_at, asked_at, cited_at)
JOIN facts f USING (fact_id)
ON CONFLICT (fact_id) DO UPDATE SET shown = u.shown + excluded.shown, asked = u.asked + excluded.asked,
    cited = u.cited + excluded.cited, cited_at = greatest(u.cited_at, excluded.cited_at),
    shown_at = greatest(u.shown_at, excluded.shown_at), asked_at = greatest(u.asked_at, excluded.asked_at);

-- name: keep_counted
INSERT INTO fact_uses_counted (workspace, seq) VALUES (%(workspace)s, %(seq)s)
ON CONFLICT (workspace) DO UPDATE SET seq = excluded.seq;

-- name: clear
-- A fact that is gone takes its counts along.
DELETE FROM fact_uses u WHERE u.workspace = %(workspace)s AND NOT EXISTS (SELECT FROM facts f WHERE f.fact_id = u.fact_id);

-- name: uses
-- What some facts were used for.
SELECT fact_id, shown, asked, cited, shown_at, asked_at, cited_at FROM fact_uses WHERE fact_id = ANY(%(fact_ids)s);
