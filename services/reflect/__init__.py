"""Learns from each turn with one model call: summary, fact operations, signals, brief.

In: turns (closed), deliveries (a reply waits: its turn is learned from before it ends), timers (a turn that nothing was
learned from is asked about again). Out: turn-reflected, from which others apply what is theirs.
Owns no table. The extraction has no tools but its own answer.
"""

from services.core.bus.processor import Processor
from services.reflect.handler import HANDLERS

PROCESSOR = Processor(name="reflect", handlers=HANDLERS, asks_model=True, background=True)
