-- name: found
-- Whether each is there at all: the first row that an index has decides.
SELECT EXISTS (SELECT FROM documents WHERE workspace = %(workspace)s) AS knowledge,
       EXISTS (SELECT FROM mails WHERE workspace = %(workspace)s AND mode = 'live') AS mail,
       EXISTS (SELECT FROM deliveries WHERE workspace = %(workspace)s AND state = 'draft') AS waiting,
       EXISTS (SELECT FROM deliveries WHERE workspace = %(workspace)s
               AND state IN ('approved', 'sending', 'sent', 'unknown', 'failed', 'bounced')) AS released,
       EXISTS (SELECT FROM deliveries WHERE workspace = %(workspace)s AND state = 'sent') AS sent;
