-- When a participant's standing was last moved or shown, in valid time: what older mail says of it comes too late.
-- depends: 0155_vectors_by_model

ALTER TABLE participants ADD COLUMN standing_at timestamptz;
COMMENT ON COLUMN participants.standing_at IS
'When the newest mail or person said where they stand: imported mail from before that moves nothing.';
UPDATE participants p SET standing_at =
    (SELECT max(l.at) FROM participant_log l WHERE l.participant_id = p.participant_id AND l.refused = '');
