-- Documents whose file may be attached to a reply. Earlier code leaves it at no.
-- depends: 0206_copies

ALTER TABLE documents ADD COLUMN sendable boolean NOT NULL DEFAULT false;
