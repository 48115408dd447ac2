-- What people made of a reply is found by the reply.
-- depends: 0840_found_by_index

CREATE INDEX approval_outcomes_by_reply ON approval_outcomes (reply_id);
