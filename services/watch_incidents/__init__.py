"""Notices when several customers report the same trouble: opens an incident, and has its end told to who reported it.

In: turn-reflected (what a mail of a proven customer reports), incidents (a person closes or reopens one).
Out: incidents, calls (an incident opened), thread-events (drafts of the answer, which people approve).
Owns the aggregate `incident_board`: the troubles reported in an inbox and its incidents. Asks no model.
"""

from services.core.bus.processor import Processor
from services.watch_incidents.apply import APPLIERS
from services.watch_incidents.handler import HANDLERS

PROCESSOR = Processor(name="watch_incidents", handlers=HANDLERS, appliers=APPLIERS, at_once=True, background=True)
