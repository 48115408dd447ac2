"""Alerts people outside of the deployment when one of them is needed, by mail and by signed webhooks.

In: calls (of whoever needs a person), timers (alert).
Out: alerts. Owns the aggregate `alert_channel`: what waits in a channel, and what became of telling it.
A channel is alerted at most once in `alerts.every_minutes`; what it does not take is tried again by timers, for days.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from services.core.bus.processor import Processor

    PROCESSOR: Processor


def __getattr__(name: str) -> Any:
    """The processor is made for a process that runs it: a command, which shows the channels, sends no alerts."""
    if name != "PROCESSOR":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from services.alert_people.apply import APPLIERS
    from services.alert_people.handler import HANDLERS
    from services.core.bus.processor import Processor, refusing_replays

    made = Processor(name="alert_people", handlers=refusing_replays(HANDLERS), appliers=APPLIERS)
    globals()["PROCESSOR"] = made
    return made
