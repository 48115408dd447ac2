"""Investigates a hard case at a person's request: the agent works on a participant's memory as files, in rounds.

In: investigations (asked for, opened, a round taken, stopped, a proposal decided, retention). Out: investigations;
thread-events (the note), participant-events (what a person accepted).
Owns the aggregate `investigations`: those of a participant. One checkpointed call of the model a round; replies go
first. The folder is never on a disk: it is made of sealed events, in memory.
"""

from services.core.bus.processor import Processor
from services.investigate.apply import APPLIERS
from services.investigate.handler import HANDLERS, give_up

PROCESSOR = Processor(
    name="investigate", handlers=HANDLERS, appliers=APPLIERS, asks_model=True, background=True, give_up=give_up
)
