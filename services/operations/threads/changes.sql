-- name: changes
-- Events of a delivery or a turn count for their thread; only its own ones carry its version.
SELECT seq, CASE topic WHEN 'participant-events' THEN 'person' WHEN 'investigations' THEN 'investigation' ELSE 'thread' END AS kind, key,
       CASE WHEN aggregate IN ('thread', 'participant', 'investigations') THEN coalesce(version, 0) ELSE 0 END AS version FROM events
WHERE seq > %(seq)s AND workspace = %(workspace)s
  AND topic IN ('thread-events', 'deliveries', 'turns', 'reply-drafted', 'participant-events', 'investigations')
ORDER BY seq LIMIT %(limit)s;
