-- A merge that a person undid stays undone.
-- depends: 0030_workspaces

ALTER TABLE facts ADD COLUMN apart_from uuid[] NOT NULL DEFAULT '{}';

COMMENT ON COLUMN facts.apart_from IS 'Facts that a person took this one apart from: they are never merged again.';
