-- A copy of a signed mail is known by what its author's domain signed, whatever Message-ID it carries. Earlier rows have
-- none; of them a copy is known by Message-ID and body. And what an unproven turn left in a thread of before, in which
-- proven and unproven mails stood together, is told apart.
-- depends: 0185_mails_proven_by_level

ALTER TABLE mails ADD COLUMN signatures text[] NOT NULL DEFAULT '{}';
CREATE INDEX mails_by_signature ON mails USING gin (signatures);

CREATE FUNCTION unproven_turn(turn uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM turns u JOIN mails m ON m.mail_id = ANY(u.mail_ids)
                   WHERE u.turn_id = turn AND NOT m.trusted)
$$;
COMMENT ON FUNCTION unproven_turn IS 'Nothing proves the author of a mail that a turn answers.';

CREATE FUNCTION unproven_moment(thread uuid, moment timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM turns u JOIN mails m ON m.mail_id = ANY(u.mail_ids)
                   WHERE u.thread_id = thread AND NOT m.trusted
                     AND moment BETWEEN u.opened_at AND coalesce(u.closed_at, 'infinity'))
$$;
COMMENT ON FUNCTION unproven_moment IS 'What was decided in a thread at a moment was decided in a turn whose author nothing proves.';
