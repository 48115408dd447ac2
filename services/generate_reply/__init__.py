"""Writes the reply: a conversation with the model, which proposes by calling tools; code disposes.

In: memory-loaded. Out: reply-drafted, or turns (given up).
Owns no table. Each model and tool answer is checkpointed.
"""

from services.core.bus.processor import Processor, failed_turn
from services.generate_reply.handler import HANDLERS

PROCESSOR = Processor(name="generate_reply", handlers=HANDLERS, asks_model=True, give_up=failed_turn("generate_reply"))
