-- Troubles that customers report, and incidents: the same trouble from several of them.
-- depends: 0580_memory_periods

CREATE TABLE incidents (
    incident_id uuid PRIMARY KEY,
    board_id    uuid NOT NULL,
    workspace   text NOT NULL,
    inbox       text NOT NULL,
    is_open     boolean NOT NULL DEFAULT true,
    since       timestamptz NOT NULL,
    opened_at   timestamptz NOT NULL,
    changed_at  timestamptz NOT NULL,
    changed_by  text NOT NULL DEFAULT '',
    reason      text NOT NULL DEFAULT '',
    closed_at   timestamptz,
    closings    int  NOT NULL DEFAULT 0,
    answer      text NOT NULL DEFAULT ''
);
CREATE INDEX incidents_by_board ON incidents (board_id, opened_at DESC, incident_id);
CREATE INDEX incidents_by_time ON incidents (workspace, opened_at DESC, incident_id);
COMMENT ON COLUMN incidents.since IS 'When the first of the reports that opened it came.';
COMMENT ON COLUMN incidents.answer IS 'What a person of ours wants said to those who reported it, since it was closed last.';

CREATE TABLE trouble_reports (
    report_id      uuid PRIMARY KEY,
    board_id       uuid NOT NULL,
    workspace      text NOT NULL,
    participant_id uuid NOT NULL,
    thread_id      uuid NOT NULL,
    mail_id        uuid NOT NULL,
    trouble        text NOT NULL,
    names          text[] NOT NULL,
    said_at        timestamptz NOT NULL,
    incident_id    uuid
);
CREATE INDEX trouble_reports_loose ON trouble_reports (board_id, said_at DESC) WHERE incident_id IS NULL;
CREATE INDEX trouble_reports_of_incident ON trouble_reports (incident_id, said_at) WHERE incident_id IS NOT NULL;
CREATE INDEX trouble_reports_of_person ON trouble_reports (participant_id);
COMMENT ON COLUMN trouble_reports.trouble IS 'A few words of one customer''s report: shown to nobody else but where several say them.';

DO $$ BEGIN PERFORM guard_workspaces(); END $$;
