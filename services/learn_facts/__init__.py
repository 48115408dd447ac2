"""Learns who writes to us: facts with their sources, lifecycle, signals, brief, session, graph.

In: turn-reflected, reply-drafted (what the agent noted while it read), inbound-email, participant-events (what
people ask), thread-events (what people did). Out: participant-events.
Owns the aggregate `participant`; its lane is the participant's id.
"""

from services.core.bus.processor import Processor
from services.learn_facts.apply import APPLIERS
from services.learn_facts.handler import HANDLERS

PROCESSOR = Processor(name="learn_facts", handlers=HANDLERS, appliers=APPLIERS, lane="subject", at_once=True)
