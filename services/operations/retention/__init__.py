"""Retention: what the settings keep for a time only goes, daily, or when an operator says so.

What is a projection is let go of by its one writer, who is asked with an event and answers with one (`ask`); what is
none is removed here: blobs, the texts in stored events and in archived files, checkpoints, days of the journal. `steps`
is the order; `run` goes through it once, `daily` does so each day in the process that keeps time.

Invariants
- Whatever somebody may still need stays: of a thread that does not rest nothing goes. One rests while no turn is open,
  no mail waits, no person has it and no reply of it is under way (`thread_rests`, an SQL function that the owners ask,
  too: migration 0100).
- Each step may be cut short anywhere and done again, by two processes at once too.
- A stored text goes after the row that was made of it, so a rebuild gives the live tables before, meanwhile and after.
"""
