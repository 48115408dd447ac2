"""Counts what people make of drafts, by inbox and intent, and opens an intent whose drafts need no person any more.

In: deliveries (a person approved or rejected a draft, or answered in its place), turns (what a reply had settled came
up again), thread-events (it did not), approvals (a person opens or closes an intent). Out: approvals.
Owns the aggregate `approval`: an intent of an inbox, closed -> open -> closed. Never asks a model; replies go first.
"""

from services.core.bus.processor import Processor
from services.earn_approval.apply import APPLIERS
from services.earn_approval.handler import HANDLERS

PROCESSOR = Processor(name="earn_approval", handlers=HANDLERS, appliers=APPLIERS, at_once=True, background=True)
