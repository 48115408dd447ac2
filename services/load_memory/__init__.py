"""Loads the context of a turn: layers in parallel, each within its budget, in a fixed order.

In: turns (opened). Out: memory-loaded, which holds the whole context.
Owns no table.
"""

from services.core.bus.processor import Processor, failed_turn
from services.load_memory.handler import HANDLERS

PROCESSOR = Processor(name="load_memory", handlers=HANDLERS, give_up=failed_turn("load_memory"))
