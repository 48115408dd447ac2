-- What a person wrote in the last hours, in whichever thread, is found without reading everybody's mail.
-- depends: 0155_vectors_by_model

CREATE INDEX mails_by_participant ON mails (participant_id, received_at);
