-- Replies are looked up by mailbox (lower(recipient COLLATE "C")) since migration 0182; the index that this replaced was
-- still written with every step of every reply.
-- depends: 0470_users

DROP INDEX IF EXISTS deliveries_by_recipient;
