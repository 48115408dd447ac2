-- Which threads an erase has met: what was read of one of them before is not stored after.
-- depends: 0131_key_copies

ALTER TABLE erasures ADD COLUMN threads uuid[] NOT NULL DEFAULT '{}';
CREATE INDEX erasures_by_thread ON erasures USING gin (threads);
