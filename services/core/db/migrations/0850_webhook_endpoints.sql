-- Webhooks that other programs get: which endpoints there are, what each is to be told, and what came of it.
-- depends: 0840_found_by_index

CREATE TABLE webhook_endpoints (
    endpoint_id   uuid PRIMARY KEY,
    workspace     text NOT NULL,
    url           text NOT NULL,
    description   text NOT NULL DEFAULT '',
    kinds         text[] NOT NULL,
    with_text     boolean NOT NULL DEFAULT false,
    secret        bytea,
    former_secret bytea,
    former_until  timestamptz,
    created_at    timestamptz NOT NULL,
    created_by    text NOT NULL DEFAULT '',
    enabled_at    timestamptz NOT NULL,
    paused_at     timestamptz,
    removed_at    timestamptz
);
CREATE INDEX webhook_endpoints_by_time ON webhook_endpoints (workspace, created_at, endpoint_id);
COMMENT ON TABLE webhook_endpoints IS 'Addresses that an operator registered for webhooks. Of one that was removed no secret is left.';
COMMENT ON COLUMN webhook_endpoints.kinds IS 'The public types that it is told of.';
COMMENT ON COLUMN webhook_endpoints.with_text IS 'Whether it is told what people wrote, too.';
COMMENT ON COLUMN webhook_endpoints.secret IS 'What its webhooks are signed with, sealed with the secret of the deployment.';
COMMENT ON COLUMN webhook_endpoints.former_secret IS 'The one before, which signs as well until former_until.';
COMMENT ON COLUMN webhook_endpoints.enabled_at IS 'Since when a person wants it told: what is disabled by itself was so before, or is so still.';

CREATE TABLE webhook_deliveries (
    webhook_id  uuid PRIMARY KEY,
    endpoint_id uuid NOT NULL,
    workspace   text NOT NULL,
    event_id    uuid NOT NULL,
    kind        text NOT NULL,
    thread_id   uuid,
    state       text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempt     int NOT NULL DEFAULT 0,
    status      int NOT NULL DEFAULT 0,
    detail      text NOT NULL DEFAULT '',
    queued_at   timestamptz NOT NULL,
    due_at      timestamptz NOT NULL,
    changed_at  timestamptz NOT NULL,
    version     bigint NOT NULL
);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (endpoint_id, due_at, version) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, version DESC);
COMMENT ON TABLE webhook_deliveries IS 'What an endpoint is to be told, and what came of it: ids and words of ours.';
COMMENT ON COLUMN webhook_deliveries.status IS 'The HTTP status of the last answer; 0: there was none.';
COMMENT ON COLUMN webhook_deliveries.queued_at IS 'When it was queued, or queued again by a person: the days of retries count from then.';
COMMENT ON COLUMN webhook_deliveries.version IS 'Of the endpoint when it was queued first: the order of its webhooks.';

CREATE TABLE webhook_health (
    endpoint_id   uuid PRIMARY KEY,
    workspace     text NOT NULL,
    failing_since timestamptz,
    delivered_at  timestamptz,
    disabled_at   timestamptz,
    reason        text NOT NULL DEFAULT ''
);
COMMENT ON TABLE webhook_health IS 'How calling an endpoint goes.';
COMMENT ON COLUMN webhook_health.failing_since IS 'The first refusal since it took something; null: the last call was taken.';

CREATE TABLE webhook_answers (
    webhook_id  uuid PRIMARY KEY,
    endpoint_id uuid NOT NULL,
    workspace   text NOT NULL,
    thread_id   uuid,
    answer      text NOT NULL,
    at          timestamptz NOT NULL
);
CREATE INDEX webhook_answers_by_thread ON webhook_answers (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX webhook_answers_by_time ON webhook_answers (workspace, at);
COMMENT ON TABLE webhook_answers IS 'How the last answer to a webhook began, for people to look at: anybody''s words, kept for days.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
