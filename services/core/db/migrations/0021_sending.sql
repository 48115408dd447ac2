-- When replies leave, for the rate of each inbox.
-- depends: 0004_deliveries

ALTER TABLE deliveries ADD COLUMN departs_at timestamptz;
COMMENT ON COLUMN deliveries.departs_at IS 'When DATA was begun, by the wall clock; or the moment that is kept for it because the inbox was over its rate.';
CREATE INDEX deliveries_by_departure ON deliveries (workspace, inbox, departs_at);
