-- Whether a user has put the guide to a first answered mail away.
-- depends: 1065_words_too_long_to_ask_for

ALTER TABLE users ADD COLUMN first_steps_closed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN users.first_steps_closed IS 'The guide to a first answered mail is not shown to them any more.';
