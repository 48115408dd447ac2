"""Parts that are made when they are first asked for stand for the whole of them."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

from services.core.bus.publisher import Publisher
from services.core.deferred import Deferred, DeferredPublisher


def test_a_deferred_publisher_publishes_in_every_way_that_a_publisher_does() -> None:
    """A way that it lacks fails only where somebody takes it: every public one is there."""
    ways = {name for name, one in inspect.getmembers(Publisher, inspect.isfunction) if not name.startswith("_")}
    assert {name for name in ways if not hasattr(DeferredPublisher, name)} == set()


def test_what_is_set_on_a_deferred_part_is_set_on_the_part() -> None:
    """Whoever holds the part itself sees it, too."""
    part = SimpleNamespace(noted=None)
    deferred = Deferred(lambda: part)
    assert not deferred.made
    deferred.noted = "seen"
    assert part.noted == "seen"
    assert deferred.noted == "seen"
