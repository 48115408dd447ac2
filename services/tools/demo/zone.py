"""The demo's DNS: the invented zone, and nothing else, so that genuine mail verifies and forged mail fails."""

from __future__ import annotations

from collections.abc import Mapping

from services.core.mail.authentication import RecordType


class ZoneResolver:
    """A `Resolver` over TXT records."""

    def __init__(self, zone: Mapping[str, tuple[str, ...]]) -> None:
        self._zone = zone

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        """The zone's records of that name."""
        return self._zone.get(name.rstrip(".").lower(), ()) if kind == "TXT" else ()
