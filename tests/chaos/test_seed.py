"""A seeded schedule in small, on the broker of this session; `make test-chaos` runs whole ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.run import run
from tests.chaos.schedule import draw
from tests.support.stack import broker_under_test

SEED, MAILS = 2026, 60


@pytest.mark.timeout(600)
async def test_a_seed_of_chaos_breaks_no_promise(tmp_path: Path) -> None:
    """Every process is killed, connections are cut, servers fail and the clock jumps: the oracle finds nothing."""
    kafka = broker_under_test()
    if ":" in kafka:
        pytest.skip("the broker of this session is not ours to kill")
    schedule = draw(SEED, MAILS, embedded=kafka == "embedded")
    print(schedule.text())
    ran = await run(schedule, tmp_path / "run", kafka=kafka)
    print(ran.judged.line(seconds=round(ran.seconds), felt=dict(ran.felt)))
    assert ran.judged.faults == ()
    assert ran.shortfalls == ()
