"""Tells people outside of the house that one of them is needed, by mail and by signed webhooks.

In: calls (of track_threads and send_email), timers (alert).
Out: alerts. Owns the aggregate `alert_channel`: what waits in a channel, and what became of telling it.
A channel is told at most once in `alerts.every_minutes`; what it does not take is tried again by timers, for days.
"""

from services.alert_people.apply import APPLIERS
from services.alert_people.handler import HANDLERS
from services.core.bus.processor import Processor
from services.core.bus.replays import refusing_replays

PROCESSOR = Processor(name="alert_people", handlers=refusing_replays(HANDLERS), appliers=APPLIERS)
