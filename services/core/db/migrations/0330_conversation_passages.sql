-- What was said can be found: messages in passages, summaries as they stand, by words and by meaning.
-- depends: 0290_brief_versions

CREATE FUNCTION passages_of(words text) RETURNS SETOF text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    blanks CONSTANT text := E' \t\r\n';
    left_over text := btrim(words, blanks);
    size int;
    piece text;
    ending text;
BEGIN
    WHILE left_over <> '' LOOP
        piece := left(left_over, 400);
        size := CASE WHEN octet_length(piece) > 800 THEN 200 ELSE 400 END;
        piece := left(left_over, size);
        IF length(left_over) > size THEN
            ending := substr(piece, size / 2);
            piece := left(piece, size / 2 - 1) || coalesce(
                substring(ending from '^.*\n\s*\n'), substring(ending from '^.*(?:[.!?]\s|[。！？])'),
                substring(ending from '^.*\s'), ending);
        END IF;
        RETURN NEXT btrim(piece, blanks);
        left_over := ltrim(substr(left_over, length(piece) + 1), blanks);
    END LOOP;
END
$$;
COMMENT ON FUNCTION passages_of IS
'A message in passages that an embedder reads whole: at most 400 characters, 200 of wide scripts, cut behind a paragraph, else a sentence, else a word. No word is lost.';

CREATE TABLE conversation_passages (
    passage_id      uuid PRIMARY KEY,
    thread_id       uuid NOT NULL,
    version         int  NOT NULL,
    part            int  NOT NULL,
    workspace       text NOT NULL,
    text            text NOT NULL,
    tsv             tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED,
    embedding       halfvec,
    embedding_model text,
    UNIQUE (thread_id, version, part),
    CONSTRAINT conversation_passages_vector_has_model CHECK ((embedding IS NULL) = (embedding_model IS NULL))
);
CREATE INDEX conversation_passages_by_model ON conversation_passages (workspace, embedding_model);
CREATE INDEX conversation_passages_words ON conversation_passages USING gin (tsv);
COMMENT ON TABLE conversation_passages IS 'Rows of conversation in passages that are found by their words and by their meaning.';
COMMENT ON COLUMN conversation_passages.embedding IS 'Cache of the vector of the text. Outside of every state hash.';
COMMENT ON COLUMN conversation_passages.embedding_model IS 'Whose vector it is. Outside of every state hash.';

INSERT INTO conversation_passages (passage_id, thread_id, version, part, workspace, text)
SELECT md5(format('%s/%s/%s', c.thread_id, c.version, one.part))::uuid, c.thread_id, c.version, one.part, c.workspace, one.text
FROM conversation c CROSS JOIN LATERAL passages_of(c.text) WITH ORDINALITY AS one (text, part)
WHERE c.gone_at IS NULL;

ALTER TABLE thread_summaries
    ADD COLUMN summary_id uuid GENERATED ALWAYS AS
        (md5(thread_id::text || coalesce(participant_id::text, '') || trusted::text)::uuid) STORED,
    ADD COLUMN tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED,
    ADD COLUMN embedding halfvec,
    ADD COLUMN embedding_model text,
    ADD CONSTRAINT thread_summaries_vector_has_model CHECK ((embedding IS NULL) = (embedding_model IS NULL));
CREATE INDEX thread_summaries_by_model ON thread_summaries (workspace, embedding_model);
COMMENT ON COLUMN thread_summaries.embedding IS 'Cache of the vector of the text. Outside of every state hash.';
COMMENT ON COLUMN thread_summaries.embedding_model IS 'Whose vector it is. Outside of every state hash.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
