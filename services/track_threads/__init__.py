"""Keeps threads: their conversation, state machine, goals, turns, deadlines, priority, tags and notes.

In: inbound-email, deliveries, reply-drafted, turns (given up), thread-events (what people ask), timers, turn-reflected
(behaviours that act afterwards).
Out: thread-events, turns, reply-drafted (drafts that no mail asked for), calls.
Owns the aggregate `thread`: one row, one version, one state machine.
"""

from services.core.bus.processor import Processor
from services.track_threads.apply import APPLIERS
from services.track_threads.handler import HANDLERS, give_up

PROCESSOR = Processor(name="track_threads", handlers=HANDLERS, appliers=APPLIERS, give_up=give_up, at_once=True)
