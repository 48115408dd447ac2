"""The levers of a run really move what they are said to move."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from services.core.blobs import BlobStoreFull
from services.core.clock import utc_now
from tests.chaos.levers import Levers, QuotaBlobs


def test_the_clock_jumps_for_everybody_who_looks(tmp_path: Path) -> None:
    """An offset that one process sets is the offset of all."""
    Levers(tmp_path).set_clock(timedelta(hours=-2))
    assert timedelta(minutes=119) < utc_now() - Levers(tmp_path).now() < timedelta(minutes=121)


async def test_a_full_store_takes_nothing_more_and_gives_what_it_has(tmp_path: Path) -> None:
    """A write that meets the quota is a temporary failure of the store; reads go on, and so do writes afterwards."""
    levers = Levers(tmp_path)
    blobs = QuotaBlobs(tmp_path / "blobs", levers)
    kept = await blobs.put(b"before")
    levers.fill_store(True)
    with pytest.raises(BlobStoreFull, match="quota"):
        await blobs.put(b"meanwhile")
    assert await blobs.get(kept) == b"before"
    assert levers.refusals == 1
    levers.fill_store(False)
    assert await blobs.get(await blobs.put(b"afterwards")) == b"afterwards"


def test_an_hour_passes_by_both_clocks(tmp_path: Path) -> None:
    """What waits by the wall clock and what waits by the other one have both waited for an hour; neither goes back."""
    levers = Levers(tmp_path)
    before, began = levers.monotonic(), levers.offset
    Levers(tmp_path).let_pass(timedelta(hours=1))
    assert 3600 <= levers.monotonic() - before < 3700
    assert levers.offset - began == timedelta(hours=1)
    levers.set_clock(timedelta(hours=-2))
    assert levers.monotonic() - before >= 3600
