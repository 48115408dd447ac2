-- Where each dead letter stands on its topic, so that a list, a count and an id cost the same however many there were.
-- depends: 0261_lost_logs

CREATE TABLE dead_letter_places (
    id            uuid PRIMARY KEY,
    event_id      uuid,
    consumer      text NOT NULL,
    topic         text NOT NULL,
    partition     int NOT NULL,
    record_offset bigint NOT NULL,
    failed_at     timestamptz NOT NULL,
    decided       boolean NOT NULL DEFAULT false,
    noted_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX dead_letter_places_waiting ON dead_letter_places (failed_at, id) WHERE NOT decided;
CREATE INDEX dead_letter_places_by_time ON dead_letter_places (failed_at, id);
CREATE INDEX dead_letter_places_event ON dead_letter_places (event_id, consumer);
CREATE INDEX dead_letter_places_noted ON dead_letter_places (noted_at);
CREATE INDEX dead_letter_places_topic ON dead_letter_places (topic);
COMMENT ON TABLE dead_letter_places IS 'An index of the topics of dead letters: it holds nothing of what they say. Derived; empty is right, and slow once. Bound: rows go after 90 days, as the records do.';

CREATE TABLE dead_letter_marks (
    topic      text NOT NULL,
    partition  int NOT NULL,
    generation int NOT NULL,
    upto       bigint NOT NULL,
    PRIMARY KEY (topic, partition)
);
COMMENT ON TABLE dead_letter_marks IS 'How far each topic of dead letters was read into dead_letter_places, and of which generation of the topic.';
