-- name: stems
-- The stems of a text in the language that the tsv columns are made with, without stop words.
SELECT tsvector_to_array(to_tsvector('english', %(text)s))
