-- A service outside that everything waits for, the model above all: since when it is away, and what it last said.
-- depends: 0200_outbox

CREATE TABLE outages (
    workspace  text NOT NULL,
    service    text NOT NULL,
    since      timestamptz NOT NULL,
    error      text NOT NULL,
    next_probe timestamptz NOT NULL,
    noted_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, service)
);
COMMENT ON TABLE outages IS 'Services that are away now, noted by whoever asks them; gone with the first answer. Bound: one row a service.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
