-- The language in which a user has the console.
-- depends: 0891_stored_settings

ALTER TABLE users ADD COLUMN language text NOT NULL DEFAULT '';
COMMENT ON COLUMN users.language IS 'A language code such as de; empty: as their browser says.';
