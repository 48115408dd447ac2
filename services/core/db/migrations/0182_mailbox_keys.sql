-- Addresses as their owners wrote them, beside the key that they are compared by (only ASCII letters are folded).
-- depends: 0171_mails_of_a_person

ALTER TABLE mails ADD COLUMN author_written text NOT NULL DEFAULT '';
COMMENT ON COLUMN mails.author_written IS
'The author''s address as they wrote it: replies go to it. Empty in rows of before; author_addr is its mailbox key.';

CREATE INDEX deliveries_by_mailbox ON deliveries (workspace, lower(recipient COLLATE "C"), departs_at);
COMMENT ON INDEX deliveries_by_mailbox IS
'By mailbox key: the C collation lowers the letters A to Z alone. deliveries_by_recipient serves older processes.';

CREATE INDEX mails_without_mailbox ON mails (workspace) WHERE author_written = '' AND author_addr <> '';
COMMENT ON INDEX mails_without_mailbox IS 'What the first start after an upgrade has to go through; empty afterwards.';
