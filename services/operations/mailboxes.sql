-- name: waiting
-- Whether a mail's row does not say yet how its author writes their address.
SELECT EXISTS (SELECT FROM mails WHERE workspace = %(workspace)s AND author_written = '' AND author_addr <> '') AS there;
