-- A colleague's mail that is read before the customer's mail that it answers is found again when that one comes.
-- depends: 0030_workspaces

ALTER TABLE mails ADD COLUMN answered_ids text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN mails.answered_ids IS 'of a mail of the Sent folder: the Message-IDs that it answers';
CREATE INDEX mails_by_answered_ids ON mails USING gin (answered_ids) WHERE filter = 'sent_folder';
