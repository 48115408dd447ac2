"""Who was erased has left no trace, in no store and in nothing that was derived."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.evidence import Evidence


def leaves_no_trace(evidence: Evidence) -> Iterator[str]:
    """No row has their id, and nothing that can be read names them."""
    yield from evidence.traces
