-- name: due_threads
-- Threads that hold texts from before a moment, by id, and whether they rest.
SELECT t.thread_id AS id, thread_rests(t.thread_id) AS rests FROM threads t
WHERE t.workspace = %(workspace)s AND t.thread_id > %(after)s
  AND (EXISTS (SELECT FROM conversation c
               WHERE c.thread_id = t.thread_id AND c.at < %(before)s AND c.gone_at IS NULL)
       OR EXISTS (SELECT FROM thread_entities e WHERE e.thread_id = t.thread_id AND e.noted_at < %(before)s))
ORDER BY t.thread_id LIMIT %(limit)s;

-- name: count_messages
SELECT count(*) AS n FROM conversation
WHERE workspace = %(workspace)s AND at < %(before)s AND gone_at IS NULL AND thread_rests(thread_id);

-- name: due_mails
-- Mails from before a moment whose text is kept, by id, and whether nobody needs them right now.
SELECT mail_id AS id, thread_rests(thread_id) AS rests FROM mails
WHERE workspace = %(workspace)s AND received_at < %(before)s AND gone_at IS NULL AND mail_id > %(after)s
ORDER BY mail_id LIMIT %(limit)s;

-- name: count_mails
SELECT count(*) AS n FROM mails
WHERE workspace = %(workspace)s AND received_at < %(before)s AND gone_at IS NULL AND thread_rests(thread_id);

-- name: due_people
-- Of whom something is remembered that nothing has renewed since a moment, by id.
SELECT a.id, true AS rests FROM aggregates a
WHERE a.workspace = %(workspace)s AND a.kind = 'participant' AND a.id > %(after)s AND (
    EXISTS (SELECT FROM facts f
            WHERE f.workspace = a.workspace AND f.participant_id = a.id AND NOT f.pinned AND f.recorded_at < %(before)s
              AND coalesce(f.superseded_at, f.recorded_at) < %(before)s
              AND NOT EXISTS (SELECT FROM fact_sources s WHERE s.fact_id = f.fact_id AND s.at >= %(before)s))
    OR EXISTS (SELECT FROM relations r WHERE r.participant_id = a.id AND r.recorded_at < %(before)s)
    OR EXISTS (SELECT FROM briefs b WHERE b.participant_id = a.id AND b.text <> '' AND b.updated_at < %(before)s)
    OR EXISTS (SELECT FROM fact_log l WHERE l.participant_id = a.id AND l.fact_id IS NULL AND l.at < %(before)s))
ORDER BY a.id LIMIT %(limit)s;

-- name: due_periods
-- Of whom something is told of periods that ended before the moment until which their grain is kept, by id.
SELECT DISTINCT p.participant_id AS id, true AS rests FROM memory_periods p
JOIN unnest(%(grains)s::text[], %(since)s::timestamptz[]) AS kept (grain, since) USING (grain)
WHERE p.workspace = %(workspace)s AND p.text <> '' AND p.ends_at <= kept.since AND p.participant_id > %(after)s
ORDER BY id LIMIT %(limit)s;

-- name: due_investigations
-- Of whom investigations that ended before a moment have their words still, by id.
SELECT DISTINCT i.participant_id AS id, true AS rests FROM investigations i
WHERE i.workspace = %(workspace)s AND i.state = 'closed' AND i.gone_at IS NULL AND i.closed_at < %(before)s
  AND i.participant_id > %(after)s
ORDER BY id LIMIT %(limit)s;

-- name: due_mail_blobs
-- Mails from before a moment whose blobs were not removed yet, by id, and whether nobody needs them right now.
SELECT m.mail_id AS id, thread_rests(m.thread_id) AS rests, ARRAY[m.blob] || ARRAY(
           SELECT one ->> 'blob' FROM jsonb_array_elements(m.attachments) AS listed (one)) AS blobs
FROM mails m
WHERE m.workspace = %(workspace)s AND m.received_at < %(before)s AND m.mail_id > %(after)s
  AND NOT EXISTS (SELECT FROM removed_blobs r WHERE r.owner = m.mail_id)
ORDER BY m.mail_id LIMIT %(limit)s;

-- name: due_reply_blobs
-- Replies that came to their end before a moment, and whose MIME was not removed yet, likewise.
SELECT d.reply_id AS id, thread_rests(d.thread_id) AS rests, ARRAY[d.blob] || d.files AS blobs FROM deliveries d
WHERE d.workspace = %(workspace)s AND d.changed_at < %(before)s AND d.blob IS NOT NULL AND d.reply_id > %(after)s
  AND d.state IN ('sent', 'failed', 'bounced', 'discarded') AND d.sent_copy <> 'waiting'
  AND NOT EXISTS (SELECT FROM removed_blobs r WHERE r.owner = d.reply_id)
ORDER BY d.reply_id LIMIT %(limit)s;

-- name: note_removed
INSERT INTO removed_blobs (owner, workspace, kind, removed_at)
SELECT owner, %(workspace)s, %(kind)s, %(at)s FROM unnest(%(owners)s::uuid[]) AS gone (owner)
ON CONFLICT DO NOTHING;

-- name: stored_texts
-- Stored events of some types from before a moment that were not emptied yet, in order.
SELECT * FROM events
WHERE workspace = %(workspace)s AND type = ANY(%(types)s) AND seq > %(after)s
  AND stored_at < %(before)s AND time < %(before)s AND id NOT IN (SELECT event_id FROM outbox)
  AND NOT data ? %(mark)s AND data ->> '$sealed' IS DISTINCT FROM ''
ORDER BY seq LIMIT %(limit)s;

-- name: emptied_bodies
-- Those of some events whose text may go: the row that was made of it has let go, or the thread rests.
SELECT e.id FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(keys)s::text[], %(aggregates)s::uuid[], %(versions)s::int[],
                        %(subjects)s::uuid[]) AS e (id, type, key, aggregate_id, version, subject)
WHERE CASE
    WHEN e.type = 'email.read.v1' THEN
        EXISTS (SELECT FROM mails m WHERE m.mail_id = e.aggregate_id AND m.gone_at IS NOT NULL)
    WHEN e.type IN ('thread.mail_attached.v1', 'thread.reply_attached.v1') THEN
        NOT EXISTS (SELECT FROM conversation c
                    WHERE c.thread_id = e.aggregate_id AND c.version = e.version AND c.gone_at IS NULL)
    WHEN e.type = 'thread.note_added.v1' THEN
        NOT EXISTS (SELECT FROM thread_notes n WHERE n.note_id = e.subject AND n.text <> '')
    WHEN e.type = 'thread.entities_noted.v1' THEN
        NOT EXISTS (SELECT FROM thread_entities n WHERE n.thread_id = e.aggregate_id AND n.version = e.version)
    WHEN e.type = 'thread.reply_rated.v1' THEN
        NOT EXISTS (SELECT FROM reply_ratings r WHERE r.thread_id = e.aggregate_id AND r.version = e.version AND r.comment <> '')
    WHEN e.type LIKE 'investigation.%%' THEN
        NOT EXISTS (SELECT FROM investigations i WHERE i.investigation_id = e.subject AND i.gone_at IS NULL)
    ELSE thread_rests(e.key::uuid) END;

-- name: emptied_facts
-- Those of some events of whose fact, decision or relation no row is left; what was only proposed or asked goes by age.
SELECT e.id FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(keys)s::text[], %(aggregates)s::uuid[], %(versions)s::int[],
                        %(subjects)s::uuid[], %(times)s::timestamptz[])
     AS e (id, type, key, aggregate_id, version, subject, time)
WHERE CASE
    WHEN e.type IN ('fact.recorded.v1', 'fact.corroborated.v1') THEN
        NOT EXISTS (SELECT FROM facts f WHERE f.fact_id = e.subject)
    WHEN e.type = 'fact.refused.v1' THEN
        NOT EXISTS (SELECT FROM fact_log l WHERE l.participant_id = e.aggregate_id AND l.version = e.version)
    WHEN e.type = 'relation.recorded.v1' THEN
        NOT EXISTS (SELECT FROM relations r WHERE r.relation_id = e.subject)
    WHEN e.type IN ('participant.brief_written.v1', 'participant.brief_diverged.v1') THEN
        NOT EXISTS (SELECT FROM briefs b WHERE b.participant_id = e.aggregate_id AND b.updated_at = e.time AND b.text <> '')
        AND NOT EXISTS (SELECT FROM brief_divergences d WHERE d.participant_id = e.aggregate_id AND d.updated_at = e.time)
    WHEN e.type = 'period.condensed.v1' THEN
        NOT EXISTS (SELECT FROM memory_periods p
                    WHERE p.participant_id = e.aggregate_id AND p.version = e.version AND p.text <> '')
    WHEN e.type IN ('memory.loaded.v1', 'reply.drafted.v1', 'turn.reflected.v1') THEN thread_rests(e.key::uuid)
    ELSE true END;

-- name: files_with_texts
-- Archived files of days before one that were not emptied yet.
SELECT number, file, place, day, events, kinds, first_seq, last_seq, last_stored_at, bytes, sha256 FROM archives
WHERE day < %(day)s AND NOT %(emptied)s = ANY(emptied) ORDER BY number;

-- name: resealed_among
-- What an erase has put in the place of some archived events.
SELECT event_id, data FROM resealed_events WHERE event_id = ANY(%(ids)s);

-- name: file_as_it_is
-- Whether a file still counts, held until the end of the transaction.
SELECT number FROM archives WHERE number = %(number)s AND file = %(file)s FOR UPDATE;

-- name: replace_file
-- Another file stands in for this one; the former is removed afterwards.
UPDATE archives SET former = file, file = %(file)s, bytes = %(bytes)s, sha256 = %(sha256)s WHERE number = %(number)s;

-- name: forget_resealed
-- The new file holds these events as they are now.
DELETE FROM resealed_events WHERE event_id = ANY(%(ids)s);

-- name: note_emptied
UPDATE archives SET emptied = emptied || %(emptied)s::text WHERE number = %(number)s;

-- name: former_files
SELECT number, former, place FROM archives WHERE former <> '';

-- name: forget_former
UPDATE archives SET former = '' WHERE number = %(number)s AND former = %(former)s;

-- name: count_checkpoints
SELECT count(*) AS n FROM checkpoints WHERE stored_at < %(before)s;

-- name: remove_checkpoints
-- Some of the old answers.
DELETE FROM checkpoints WHERE (consumer, event_id, step) IN (
    SELECT consumer, event_id, step FROM checkpoints WHERE stored_at < %(before)s LIMIT %(limit)s);

-- name: count_vectors
SELECT count(*) AS n FROM embeddings;

-- name: count_decisions
SELECT count(*) AS n FROM letter_decisions d
WHERE decided_at < %(before)s AND NOT EXISTS (SELECT FROM events e WHERE e.id = d.event_id);

-- name: remove_decisions
-- What was decided about dead letters that the broker has deleted since. Of an event that is in the table it says, as the
-- journal does, that it is done.
DELETE FROM letter_decisions d
WHERE decided_at < %(before)s AND NOT EXISTS (SELECT FROM events e WHERE e.id = d.event_id);

-- name: count_old_events
SELECT count(*) AS n FROM events WHERE stored_at < %(before)s;

-- name: journal_days
-- The journal's partitions of days before one, oldest first.
SELECT to_date(substr(c.relname, 9), 'YYYYMMDD') AS day, c.relname AS name
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'journal'::regclass AND c.relname ~ '^journal_[0-9]{8}$'
  AND to_date(substr(c.relname, 9), 'YYYYMMDD') < %(day)s
ORDER BY 1;

-- name: days_of_events
-- The days before one of which events are in the table: what a broker that forgot gets again must be known as done.
SELECT DISTINCT (time AT TIME ZONE 'UTC')::date AS day FROM events WHERE time < %(before)s;

-- name: newest_done
-- When something of a day was last done.
SELECT max(done_at) AS at FROM journal WHERE event_day = %(day)s;

-- name: other_days
-- Days before one whose rows have no partition of their own.
SELECT event_day AS day FROM journal_other WHERE event_day < %(day)s
GROUP BY event_day HAVING max(done_at) < %(before)s ORDER BY event_day;

-- name: remove_other_day
DELETE FROM journal_other WHERE event_day = %(day)s;

-- name: give_up_soon
-- A lock that does not come at once is asked for another day, so that nobody waits behind us.
SELECT set_config('lock_timeout', %(milliseconds)s::text, true);
