-- name: thread
INSERT INTO threads (thread_id, workspace, participant_id, inbox, subject, state, opened_at, changed_at)
VALUES (%(thread_id)s, %(workspace)s, %(person)s, 'support', '', 'closed', %(at)s, %(at)s)
ON CONFLICT DO NOTHING

-- name: participant
INSERT INTO participants (participant_id, workspace, addr, name, state, first_seen_at, last_seen_at)
VALUES (%(author_id)s, %(workspace)s, %(addr)s, %(speaker)s, 'customer', %(at)s, %(at)s)
ON CONFLICT DO NOTHING

-- name: mail
INSERT INTO mails (mail_id, workspace, thread_id, participant_id, inbox, mode, blob, message_id, content_sha256, subject,
                   author_name, author_addr, recipients, references_ids, received_at, text, language, identity, trusted,
                   verdict, reason, filter, flags)
VALUES (%(message_id)s, %(workspace)s, %(thread_id)s, %(author_id)s, 'support', 'live', '', %(message_id)s::text,
        %(message_id)s::text, '', %(speaker)s, %(addr)s, %(recipients)s, '{}', %(at)s, %(text)s, 'en', 'verified', true,
        'accepted', '', '', '{}')

-- name: delivery
INSERT INTO deliveries (reply_id, workspace, thread_id, turn_id, inbox, state, recipient, created_at, changed_at)
VALUES (%(message_id)s, %(workspace)s, %(thread_id)s, %(message_id)s, 'support', 'sent', %(recipient)s, %(at)s, %(at)s)

-- name: message
INSERT INTO conversation (thread_id, version, workspace, role, mail_id, reply_id, text, tokens, trusted, at)
VALUES (%(thread_id)s, %(version)s, %(workspace)s, %(role)s, %(mail_id)s, %(reply_id)s, %(text)s, 0, true, %(at)s)

-- name: places
SELECT passage_id, thread_id, version FROM conversation_passages WHERE workspace = %(workspace)s

-- name: stems
-- Every message's stems with repetition, for BM25 in Python on the same words.
SELECT array(SELECT w.lexeme FROM unnest(to_tsvector('english', text)) AS w, generate_series(1, cardinality(w.positions)))
FROM conversation JOIN threads USING (thread_id) WHERE threads.participant_id = %(person)s
ORDER BY threads.opened_at, threads.thread_id, version

-- name: query_stems
-- A question's stems.
SELECT tsvector_to_array(to_tsvector('english', %(text)s))
