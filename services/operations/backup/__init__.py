"""Back-up and restore: the events and the bookkeeping as of one moment, the blobs, and the archived files.

Tables that are folded from events are not in a back-up; a restore folds them, and proves by the state's hash that they
are what they were. Secrets and keys are kept apart: who holds a back-up alone can neither send nor read what is sealed.
"""
