"""How long a person's own reply may be and wait, and how many files go along."""

LONGEST_REPLY = 32_000  # characters
LONGEST_HOLD_S = 600.0
MOST_FILES = 20
