-- name: known
-- What the topics were when they were last looked at.
SELECT name, cluster_id, topic_id, ends, passes > 0 AS unfinished,
       passes > 0 AND republish_at <= clock_timestamp() AS due
FROM log_topics WHERE name = ANY(%(names)s);

-- name: note
-- A topic is seen for the first time, or with an id for the first time, and nothing is missing from it.
INSERT INTO log_topics (name, cluster_id, topic_id) VALUES (%(name)s, %(cluster)s, %(id)s)
ON CONFLICT (name) DO UPDATE SET topic_id = excluded.topic_id WHERE log_topics.topic_id = '';

-- name: note_lost
-- The topic lost records: earlier offsets mean nothing any more, and what is not yet consumed is published again.
INSERT INTO log_topics (name, cluster_id, topic_id, passes, republish_at, lost_at, reason)
VALUES (%(name)s, %(cluster)s, %(id)s, %(passes)s, clock_timestamp(), now(), %(reason)s)
ON CONFLICT (name) DO UPDATE SET
    cluster_id = excluded.cluster_id, topic_id = excluded.topic_id, ends = '{}', passes = excluded.passes,
    republish_at = excluded.republish_at, lost_at = excluded.lost_at, reason = excluded.reason, republished = 0,
    generation = log_topics.generation + 1;

-- name: forget_held
-- Records that were held in topics that were lost: their offsets are other records' now. What is met again is noted again.
DELETE FROM held_records WHERE topic = ANY(%(names)s);

-- name: announce
-- Other processes hear of it at once.
SELECT pg_notify('correspondent_log', '');

-- name: note_pass
-- What was not yet consumed has been published again; a last pass follows after a pause.
UPDATE log_topics SET passes = passes - 1, republished = republished + %(count)s,
    republish_at = clock_timestamp() + %(pause_s)s * interval '1 second' WHERE name = %(name)s AND passes > 0;

-- name: note_ends
-- Where the partitions of a topic end now.
UPDATE log_topics SET ends = %(ends)s WHERE name = %(name)s AND topic_id = %(id)s;

-- name: generations
-- How often each topic was lost, where one was.
SELECT name, generation FROM log_topics WHERE generation > 0 AND starts_with(name, %(prefix)s);

-- name: recent_losses
-- What was lost in the last day and nobody acknowledged, by the moment it was noted, the newest first.
SELECT date_trunc('second', lost_at) AS lost_at, array_agg(substr(name, length(%(prefix)s) + 1) ORDER BY name) AS topics,
       array_agg(DISTINCT reason) AS reasons, sum(republished)::bigint AS republished, bool_or(passes > 0) AS unfinished
FROM log_topics
WHERE generation > 0 AND starts_with(name, %(prefix)s) AND lost_at > clock_timestamp() - interval '1 day'
  AND lost_at > coalesce(acknowledged_at, '-infinity')
GROUP BY date_trunc('second', lost_at) ORDER BY lost_at DESC;

-- name: acknowledge_losses
WITH seen AS (
    UPDATE log_topics SET acknowledged_at = clock_timestamp()
    WHERE generation > 0 AND starts_with(name, %(prefix)s) AND lost_at > coalesce(acknowledged_at, '-infinity')
    RETURNING 1)
SELECT count(*) AS topics FROM seen;
