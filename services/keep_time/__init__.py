"""Keeps time: publishes timers that have come due, and relays events that a crash left unpublished.

An edge: it reads the wall clock so that nobody else has to.
The rounds of a minute or a day that its process goes through besides are listed in `services/upkeep.py`.
Out: timers. Fires and deletes the rows of `timers`; others set them in their own transaction, as they store events.
"""

from services.core.bus.processor import Edge
from services.keep_time.keeper import KEEP_TIME, run

EDGE = Edge(name=KEEP_TIME, run=run)
