-- Turns about which the model is asked again: few, and counted by each `status`, however many timers wait.
-- depends: 0340_answers

CREATE INDEX timers_reflect_again ON timers (workspace, due_at) WHERE event ->> 'purpose' = 'reflect_again';
