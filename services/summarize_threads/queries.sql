-- name: current
SELECT text, covers_to FROM thread_summaries WHERE thread_id = %(thread_id)s;

-- name: upsert
INSERT INTO thread_summaries (thread_id, workspace, text, words, covers_to, updated_at)
VALUES (%(thread_id)s, %(workspace)s, %(text)s, %(words)s, %(covers_to)s, %(at)s)
ON CONFLICT (thread_id) DO UPDATE SET text = excluded.text, words = excluded.words,
    covers_to = excluded.covers_to, updated_at = excluded.updated_at;
