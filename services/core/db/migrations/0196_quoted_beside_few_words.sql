-- What a mail quotes and its signature, kept where its new text is a few words: the model reads them, marked as such.
-- depends: 0171_mails_of_a_person

ALTER TABLE mails ADD COLUMN quoted text NOT NULL DEFAULT '', ADD COLUMN signature text NOT NULL DEFAULT '';
