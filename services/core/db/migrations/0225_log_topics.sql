-- What each topic of the log was when it was last looked at, so that a log that was lost is seen and published again.
-- depends: 0207_sendable_documents

CREATE TABLE log_topics (
    name         text PRIMARY KEY,
    cluster_id   text NOT NULL,
    topic_id     text NOT NULL,
    ends         bigint[] NOT NULL DEFAULT '{}',
    generation   int NOT NULL DEFAULT 0,
    passes       int NOT NULL DEFAULT 0,
    republish_at timestamptz,
    lost_at      timestamptz,
    reason       text NOT NULL DEFAULT ''
);
COMMENT ON TABLE log_topics IS 'What each topic was when it was last looked at. Bound: one row a topic, dead letters included.';
COMMENT ON COLUMN log_topics.topic_id IS 'The broker''s id of the topic: a topic that was deleted and made again has another one.';
COMMENT ON COLUMN log_topics.ends IS 'The end of each partition when it was last looked at; an end that went back means lost records.';
COMMENT ON COLUMN log_topics.generation IS 'How often the topic was lost. Consumers trust offsets of the same generation only.';
COMMENT ON COLUMN log_topics.passes IS 'How often what is not yet consumed must still be published again, the next time at republish_at.';
