"""Keeps the rolling summary of each thread: of 200 words (a setting), held by code, cached for an hour.

In: turn-reflected. Out: thread-summarized.
Owns the aggregate `summary`. Never asks a model: the words come from the reflection.
"""

from services.core.bus.processor import Processor
from services.summarize_threads.apply import APPLIERS
from services.summarize_threads.handler import HANDLERS

PROCESSOR = Processor(name="summarize_threads", handlers=HANDLERS, appliers=APPLIERS, at_once=True, background=True)
