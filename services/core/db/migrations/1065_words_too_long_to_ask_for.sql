-- A word of more than 2,046 bytes is in no text search of Postgres, and asking for it is an error: no question asks for one.
-- depends: 0940_languages_of_users

CREATE OR REPLACE FUNCTION question_words(text text, language text) RETURNS TABLE (lexeme text, query tsquery)
LANGUAGE sql STABLE AS $$
    WITH token AS (
        SELECT DISTINCT lower(found.token) AS written, found.lexemes[1] AS stem
        FROM ts_debug(stemmer(language), spaced_text(text)) AS found
        WHERE cardinality(found.lexemes) > 0 AND length(found.token) <= 255
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
