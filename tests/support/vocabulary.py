"""The words that no user reads: a dialect of the first version, replaced by the field's own words (docs/glossary.md)."""

from __future__ import annotations

import re

DIALECT = re.compile(
    r"\bhouses?\b|\bat work\b|\bat home\b|\bwhence\b|(?<!one )\bof before\b|\banew\b|\bshall\b"
    r"|(?<!case )\b(?:[Rr]e)?[Ff]old(?:ed|ing|s)?\b|\b[Mm]end(?:ed|ing|s)?\b|\b[Tt]roubles\b"
    r"|(?<![Dd]ead[ -])\bletters?\b(?! or digit)|\b[Bb]ack-ups?\b|\bwish(?:es)?\b|\bpass(?:ed|es)? over\b"
    r"|\bhand(?:ed)?-overs?\b|\bg(?:ives?|iven|ave) up on\b|\b[Rr]efill(?:ed|s)?\b|\bheeded\b|\bleash\b"
    r"|\b(?:person|human) is called\b|\bhandled once more\b|\b[Tt]he standing one\b|\bstanding (?:fact|value)s?\b"
)
