-- name: insert
-- A current fact of one person.
INSERT INTO facts (
    fact_id, workspace, participant_id, kind, key, value, text, words, single_valued, confidence, importance, trust,
    valid_from, recorded_at, source_event_id, version
)
VALUES (
    %(fact_id)s, 'w', %(participant_id)s, 'note', %(text)s, %(text)s, %(text)s, text_words(%(text)s), FALSE, 0.7, 0.6, 'authenticated',
    %(at)s, %(at)s, %(fact_id)s, 1
)
