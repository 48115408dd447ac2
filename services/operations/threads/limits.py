"""How long a person's own reply may be and wait, how many files go along, and how much is worded better at once."""

LONGEST_REPLY = 32_000  # characters
LONGEST_REWORDED = 10_000  # characters: what a model gives back in one answer
LONGEST_HOLD_S = 600.0
MOST_FILES = 20
