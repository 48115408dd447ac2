-- How many replies an address was sent within a day, for every mail that comes from it.
-- depends: 0037_lifted_suppressions

CREATE INDEX deliveries_by_recipient ON deliveries (workspace, lower(recipient), departs_at);
