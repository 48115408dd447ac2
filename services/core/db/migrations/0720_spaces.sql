-- A mailbox may keep its memory to itself: which space a mail, a participant and a document are part of.
-- depends: 0760_cited_facts

ALTER TABLE mails ADD COLUMN space text NOT NULL DEFAULT '';
ALTER TABLE participants ADD COLUMN space text NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN space text NOT NULL DEFAULT '';
CREATE INDEX mails_of_spaces ON mails (workspace, space) WHERE space <> '';
COMMENT ON COLUMN mails.space IS
'Whose memory the mail is part of: what its inbox''s memory.space said when it was read; empty = what inboxes without their own share.';
COMMENT ON COLUMN participants.space IS
'Which memory they are known in. In each the same address is another participant, with an id of its own.';
COMMENT ON COLUMN documents.space IS 'Whose replies it may be quoted in: those of inboxes of this space.';
