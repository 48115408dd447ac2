-- name: people
-- Who wrote in some threads, and who some participants are: each of them under every address that is theirs now.
SELECT w.id, array_agg(DISTINCT one) AS people
FROM (SELECT thread_id AS id, participant_id AS who FROM mails
      WHERE thread_id = ANY(%(threads)s) AND participant_id IS NOT NULL
      UNION SELECT one, one FROM unnest(%(subjects)s::uuid[]) AS one) AS w
CROSS JOIN unnest(CASE WHEN EXISTS (SELECT FROM participant_aliases) THEN person_ids(w.who) ELSE ARRAY[w.who] END) AS one
GROUP BY w.id;
