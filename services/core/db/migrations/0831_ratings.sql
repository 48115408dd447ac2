-- What customers say of answers, by a link in them.
-- depends: 0830_mentions

CREATE TABLE reply_ratings (
    turn_id    uuid PRIMARY KEY,
    reply_id   uuid NOT NULL,
    thread_id  uuid NOT NULL,
    workspace  text NOT NULL,
    inbox      text NOT NULL,
    good       boolean NOT NULL,
    comment    text NOT NULL,
    version    int NOT NULL,
    rated_at   timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    changes    int NOT NULL DEFAULT 0
);
CREATE INDEX reply_ratings_by_thread ON reply_ratings (thread_id);
CREATE INDEX reply_ratings_by_time ON reply_ratings (workspace, rated_at DESC, turn_id DESC);
COMMENT ON TABLE reply_ratings IS 'What a customer says of an answer: one for each turn, changed for a day after `rated_at`.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
