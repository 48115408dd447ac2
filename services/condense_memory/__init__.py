"""Tells a participant's ended days, weeks, months, quarters and years in a few sentences that each name their rows.

In: memory-periods (a period ended, or has had its time), participant-events (facts that are kept no longer). Out:
memory-periods.
Owns the aggregate `periods`: the told periods of a participant. Rows are the truth: what is told is shown only while
all of its rows stand. One call of the model a period; replies go first.
"""

from services.condense_memory.apply import APPLIERS
from services.condense_memory.handler import HANDLERS
from services.core.bus.processor import Processor

PROCESSOR = Processor(name="condense_memory", handlers=HANDLERS, appliers=APPLIERS, asks_model=True, background=True)
