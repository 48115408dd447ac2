-- The copy of a sent reply in the inbox's Sent folder: where it stands, and until when it is tried again.
-- depends: 0030_workspaces

ALTER TABLE deliveries
    ADD COLUMN sent_copy text NOT NULL DEFAULT '' CHECK (sent_copy IN ('', 'waiting', 'kept', 'missing')),
    ADD COLUMN copy_attempt int NOT NULL DEFAULT 0,
    ADD COLUMN copy_detail text NOT NULL DEFAULT '',
    ADD COLUMN copy_tried_at timestamptz;
COMMENT ON COLUMN deliveries.sent_copy IS 'missing: given up, the reply itself was sent.';
COMMENT ON COLUMN deliveries.copy_tried_at IS 'When the folder last failed to take it, by the wall clock.';
CREATE INDEX deliveries_by_missed_copy ON deliveries (workspace, inbox, copy_tried_at) WHERE sent_copy = 'waiting';
