-- Facts are found by their words in any language: stems by the question's language, pairs of characters where no spaces are.
-- depends: 0290_brief_versions

CREATE FUNCTION stemmer(language text) RETURNS regconfig LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE language
        WHEN '' THEN 'pg_catalog.english'::regconfig WHEN 'en' THEN 'pg_catalog.english'
        WHEN 'da' THEN 'pg_catalog.danish' WHEN 'de' THEN 'pg_catalog.german' WHEN 'es' THEN 'pg_catalog.spanish'
        WHEN 'fi' THEN 'pg_catalog.finnish' WHEN 'fr' THEN 'pg_catalog.french' WHEN 'hu' THEN 'pg_catalog.hungarian'
        WHEN 'it' THEN 'pg_catalog.italian' WHEN 'nl' THEN 'pg_catalog.dutch' WHEN 'no' THEN 'pg_catalog.norwegian'
        WHEN 'nb' THEN 'pg_catalog.norwegian' WHEN 'nn' THEN 'pg_catalog.norwegian'
        WHEN 'pt' THEN 'pg_catalog.portuguese' WHEN 'ro' THEN 'pg_catalog.romanian'
        WHEN 'ru' THEN 'pg_catalog.russian' WHEN 'sv' THEN 'pg_catalog.swedish' WHEN 'tr' THEN 'pg_catalog.turkish'
        ELSE 'pg_catalog.simple' END
$$;
COMMENT ON FUNCTION stemmer IS
'The text search configuration of an ISO 639-1 language; English where it is not known, simple where Postgres has no stems of it.';

CREATE FUNCTION spaced_text(text text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(text, '[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+', ' ', 'g')
$$;
COMMENT ON FUNCTION spaced_text IS 'What of a text is written in scripts that put spaces between words.';

CREATE FUNCTION character_pairs(text text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(DISTINCT substr(run[1], place, 2)), '{}')
    FROM regexp_matches(text, '[\u0e00-\u0e7f\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+', 'g') AS run,
         generate_series(1, greatest(length(run[1]) - 1, 1)) AS place
$$;
COMMENT ON FUNCTION character_pairs IS
'Every two neighbouring characters of Thai, Korean, Chinese and Japanese; not of hiragana, which is mostly endings.';

CREATE FUNCTION text_words(text text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT to_tsvector('pg_catalog.simple', spaced_text(text)) || to_tsvector('pg_catalog.english', spaced_text(text))
        || array_to_tsvector(character_pairs(text))
$$;
COMMENT ON FUNCTION text_words IS
'What a text is found by, whatever its language: its words as they are, their English stems, pairs of characters. question_words asks for them.';

CREATE FUNCTION question_words(text text, language text) RETURNS TABLE (lexeme text, query tsquery)
LANGUAGE sql STABLE AS $$
    WITH token AS (
        SELECT DISTINCT lower(found.token) AS written, found.lexemes[1] AS stem
        FROM ts_debug(stemmer(language), spaced_text(text)) AS found WHERE cardinality(found.lexemes) > 0
    ),
    begun AS (
        SELECT written, stem, CASE
            WHEN stemmer(language) = 'pg_catalog.english'::regconfig OR length(stem) < 4 THEN stem
            WHEN stemmer(language) = 'pg_catalog.simple'::regconfig THEN left(stem, greatest(4, length(stem) * 7 / 10))
            ELSE stem END AS start
        FROM token
    )
    SELECT stem, (string_agg(quote_literal(written), ' | ') || ' | ' || quote_literal(min(start))
        || CASE WHEN stemmer(language) = 'pg_catalog.english'::regconfig OR length(min(start)) < 4 THEN '' ELSE ':*' END
    )::tsquery FROM begun GROUP BY stem
    UNION
    SELECT pair, quote_literal(pair)::tsquery FROM unnest(character_pairs(text)) AS pair
$$;
COMMENT ON FUNCTION question_words IS
'The words of a question in an ISO 639-1 language, each with what it is found by in text_words: itself or its stem; but in English any word that begins with the stem, or where there are no stems with seven tenths of it.';

ALTER TABLE facts ADD COLUMN words tsvector;
COMMENT ON COLUMN facts.words IS
'text_words(text), a cache outside of every state hash; NULL in rows of an older release until they get a vector again, and then made when asked.';

-- A fact with a vector of 896 numbers is 2.3 kB: it stays in its row, where an exact search of a person's facts reads it.
ALTER TABLE facts SET (toast_tuple_target = 4080);
