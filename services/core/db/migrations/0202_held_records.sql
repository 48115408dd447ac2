-- Records that a consumer holds because a newer version wrote them; and timers that only a newer version can read.
-- depends: 0201_outages

CREATE TABLE held_records (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer      text NOT NULL,
    topic         text NOT NULL,
    partition     int NOT NULL,
    record_offset bigint NOT NULL,
    event_id      uuid,
    event_day     date,
    type          text NOT NULL,
    error         text NOT NULL,
    since         timestamptz NOT NULL DEFAULT clock_timestamp(),
    released_at   timestamptz,
    UNIQUE (consumer, topic, partition, record_offset)
);
COMMENT ON TABLE held_records IS 'What a consumer of this version cannot read although it is its own: the partition waits for a newer version, or for a person who releases the record as a dead letter. Bound: one row a partition and consumer at a time, kept after its end.';

ALTER TABLE timers ADD COLUMN look_at timestamptz;
COMMENT ON COLUMN timers.look_at IS 'Set where this version cannot read the timer: when it is looked at again. Its due time stays.';
