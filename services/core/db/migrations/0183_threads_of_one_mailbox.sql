-- Whose a thread is, for people who shared an id (full case folding made one of weiß@ and weiss@).
-- depends: 0182_mailbox_keys

CREATE FUNCTION thread_of_one(thread uuid, who uuid, other uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM mails WHERE thread_id = thread AND participant_id = who)
       AND NOT EXISTS (SELECT 1 FROM mails WHERE thread_id = thread AND participant_id = other)
$$;
COMMENT ON FUNCTION thread_of_one(uuid, uuid, uuid) IS 'Whether one participant wrote in a thread and the other one did not.';
