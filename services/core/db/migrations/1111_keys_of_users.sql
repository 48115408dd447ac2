-- The single keys that a user has chosen for the console.
-- depends: 1110_first_steps_closed

ALTER TABLE users ADD COLUMN keys jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN users.keys IS 'The key of each act that has another one than by default; empty for an act that has none.';
