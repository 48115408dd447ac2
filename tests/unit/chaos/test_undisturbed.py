"""When the evidence of a run is collected: of a deployment in which nothing comes meanwhile."""

from __future__ import annotations

from tests.chaos.run import COLLECTIONS, undisturbed
from tests.oracle.evidence import Evidence


class Deployment:
    """One that raises alerts of itself, `alerts` times, each while its evidence is collected; it counts what is asked."""

    def __init__(self, alerts: int, *, rests: bool = True) -> None:
        self.alerts, self.rests = alerts, rests
        self.events = self.rested = self.collected = 0

    async def rest(self) -> bool:
        self.rested += 1
        return self.rests

    async def newest(self) -> int:
        return self.events

    async def collect(self) -> Evidence:
        self.collected += 1
        seen = self.events
        if self.alerts:
            self.alerts -= 1
            self.events += 1
        return Evidence((), (), tuple({"seq": number} for number in range(seen)))


async def _evidence(one: Deployment) -> Evidence:
    return await undisturbed(one.rest, one.newest, one.collect)


async def test_an_alert_that_was_raised_after_rest_was_judged_as_left_undone() -> None:
    """Where an event came while evidence was collected, it is waited for and collected again, with it."""
    one = Deployment(alerts=2)
    assert len((await _evidence(one)).events) == 2
    assert (one.rested, one.collected) == (3, 3)


async def test_a_deployment_that_never_rests_is_judged_as_it_is() -> None:
    """It is asked once where it did not come to rest, and a few times where something always comes."""
    restless, busy = Deployment(alerts=0, rests=False), Deployment(alerts=99)
    await _evidence(restless)
    await _evidence(busy)
    assert (restless.collected, busy.collected) == (1, COLLECTIONS)
