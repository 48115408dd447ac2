-- name: current
SELECT text, covers_to FROM thread_summaries
WHERE thread_id = %(thread_id)s AND participant_id IS NOT DISTINCT FROM %(participant_id)s AND trusted = %(trusted)s;

-- name: known_names
-- What is known of the participant by name (learn_facts' own rows), the most important first.
SELECT p.name, ARRAY(SELECT f.value FROM facts f
                     WHERE f.workspace = p.workspace AND f.kind = 'identity' AND f.superseded_at IS NULL
                       AND f.participant_id = ANY(person_ids(p.participant_id))
                     ORDER BY f.importance DESC, f.recorded_at, f.fact_id LIMIT 20) AS things
FROM participants p WHERE p.workspace = %(workspace)s AND p.participant_id = %(participant_id)s;

-- name: upsert
INSERT INTO thread_summaries (thread_id, participant_id, trusted, workspace, text, words, covers_to, updated_at)
VALUES (%(thread_id)s, %(participant_id)s, %(trusted)s, %(workspace)s, %(text)s, %(words)s, %(covers_to)s, %(at)s)
ON CONFLICT (thread_id, participant_id, trusted) DO UPDATE SET text = excluded.text, words = excluded.words,
    covers_to = excluded.covers_to, updated_at = excluded.updated_at,
    embedding = CASE WHEN thread_summaries.text = excluded.text THEN thread_summaries.embedding END,
    embedding_model = CASE WHEN thread_summaries.text = excluded.text THEN thread_summaries.embedding_model END;
