"""Backup and restore: the events and the bookkeeping as of one moment, the blobs, and the archived files.

Tables that follow from events are not in a backup; a restore rebuilds them, and proves by the state's hash that they
are what they were. Secrets and keys are kept apart: who holds a backup alone can neither send nor read what is sealed.
"""
