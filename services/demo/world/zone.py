"""The DNS of a world: answers look-ups from its zone, as `core.mail.authentication.Resolver` asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from services.mail.authentication import RecordType


@dataclass(frozen=True, slots=True)
class ZoneResolver:
    """TXT records by lower-case name without the final dot. Knows nothing else, and asks nobody."""

    records: Mapping[str, tuple[str, ...]]

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        """The TXT records of `name`; () for any other name or kind."""
        return self.records.get(name.rstrip(".").lower(), ()) if kind == "TXT" else ()
