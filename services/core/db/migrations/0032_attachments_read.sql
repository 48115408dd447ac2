-- What the attachments of a mail are and say, for whoever answers it.
-- depends: 0031_answered_by_hand

ALTER TABLE mails ADD COLUMN attachments jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN mails.attachments IS 'name, type, size, blob, text (its beginning) and why one could not be read';
