-- name: inbox
-- Where the participant wrote last before a period ended: its words ask the model.
SELECT inbox FROM mails WHERE participant_id = %(participant_id)s AND trusted AND received_at < %(ends_at)s
ORDER BY received_at DESC, mail_id LIMIT 1;

-- name: told
SELECT period_id FROM memory_periods
WHERE participant_id = %(participant_id)s AND grain = %(grain)s AND period = %(period)s;

-- name: tell
INSERT INTO memory_periods (participant_id, grain, period, workspace, starts_at, ends_at, text, sentences, row_ids,
                            row_marks, left_out, dropped, calls, version, made_at)
VALUES (%(participant_id)s, %(grain)s, %(period)s, %(workspace)s, %(starts_at)s, %(ends_at)s, %(text)s, %(sentences)s,
        %(row_ids)s, %(row_marks)s, %(left_out)s, %(dropped)s, %(calls)s, %(version)s, %(made_at)s)
ON CONFLICT DO NOTHING;

-- name: rests_on
-- Whether a told period of the participant rests on one of these facts.
SELECT period_id FROM memory_periods
WHERE participant_id = %(participant_id)s AND (
    row_ids && %(fact_ids)s::uuid[] OR row_ids && ARRAY(SELECT ending_of(one) FROM unnest(%(fact_ids)s::uuid[]) AS gone (one)))
LIMIT 1;

-- name: outlived
-- Told periods that ended before the moment until which their grain is kept, and whose time a coarser one tells, to its end.
SELECT p.period_id FROM memory_periods p
JOIN unnest(%(grains)s::text[], %(since)s::timestamptz[]) WITH ORDINALITY AS kept (grain, since, coarseness) USING (grain)
WHERE p.participant_id = %(participant_id)s AND p.text <> '' AND p.ends_at <= kept.since
  AND (p.grain = 'yearly' OR NOT EXISTS (
      SELECT FROM unnest(ARRAY[p.starts_at, p.ends_at - interval '1 microsecond']) AS of (moment)
      WHERE NOT EXISTS (
          SELECT FROM memory_periods c
          WHERE c.participant_id = p.participant_id AND of.moment >= c.starts_at AND of.moment < c.ends_at
            AND array_position(%(grains)s::text[], c.grain) > kept.coarseness)))
ORDER BY kept.coarseness, p.starts_at;

-- name: expire
-- What a told period says goes with a fact that it rests on, or when it has had its time; that it was told stays, so it
-- is not told again.
UPDATE memory_periods SET text = '', sentences = '[]', embedding = NULL, embedding_model = NULL
WHERE participant_id = %(participant_id)s AND (
    period_id = ANY(%(period_ids)s::uuid[]) OR row_ids && %(fact_ids)s::uuid[] OR row_ids && ARRAY(SELECT ending_of(one) FROM unnest(%(fact_ids)s::uuid[]) AS gone (one)));
