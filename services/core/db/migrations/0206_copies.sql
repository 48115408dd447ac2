-- Who else gets a copy of a reply, and the blobs of what a person attached to it. Earlier code leaves both empty.
-- depends: 0171_mails_of_a_person

ALTER TABLE deliveries ADD COLUMN cc text[] NOT NULL DEFAULT '{}';
ALTER TABLE deliveries ADD COLUMN files text[] NOT NULL DEFAULT '{}';
