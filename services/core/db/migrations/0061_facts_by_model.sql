-- Facts that lack a vector of the model in use are found without reading the others.
-- depends: 0060_kept_apart

CREATE INDEX facts_by_model ON facts (workspace, embedding_model);
