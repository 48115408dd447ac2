-- When a mail was written, as readers and models are told: imported mail is as old as its Date says.
-- depends: 0166_outranked_at

CREATE FUNCTION written_at(mode text, sent_at timestamptz, otherwise timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN mode = 'history' AND sent_at <= otherwise THEN sent_at ELSE otherwise END
$$;
COMMENT ON FUNCTION written_at IS
'The Date of an imported mail where it is not after the other time; else that time.';
