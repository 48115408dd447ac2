"""The words that no user reads: a dialect of the first version, whose places the field's own words have taken."""

from __future__ import annotations

import re

DIALECT = re.compile(
    r"\bhouses?\b|\bat work\b|\bat home\b|\bwhence\b|(?<!one )\bof before\b|\banew\b|\bshall\b|\b[Ff]old(?:ed|s)?\b"
    r"|\b[Mm]end(?:ed)?\b|\btroubles\b|(?<!dead )\bletters?\b(?! or digit)|\b[Bb]ack-ups?\b|\bwish(?:es)?\b"
    r"|\bpass(?:ed|es)? over\b"
)
