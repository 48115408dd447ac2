-- name: rows
SELECT * FROM period_rows(%(participant_id)s, %(since)s, %(until)s, %(moment)s) ORDER BY at, id;

-- name: current_periods
SELECT period_id, participant_id, grain, period, starts_at, ends_at, sentences, cardinality(row_ids) AS rows, left_out,
       dropped, made_at, true AS stands
FROM standing_periods(%(participant_id)s, %(moment)s) ORDER BY starts_at DESC, ends_at, participant_id;

-- name: found
-- What a search of a person's told periods looks through: each stands alone. Where a time is asked about, those that it
-- falls into.
SELECT period_id AS id, period_id AS stream, 1 AS position, '' AS speaker, text, tsv,
       CASE WHEN embedding_model = %(model)s THEN embedding END AS embedding, starts_at AS at
FROM standing_periods(%(participant_id)s, %(moment)s)
WHERE %(since)s::timestamptz IS NULL OR (starts_at < %(until)s AND ends_at > %(since)s)
