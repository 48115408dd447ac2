"""Reads mail: parse, authenticate, filter, thread. Nothing is dropped; every mail gets a verdict with a reason.

In: inbound-email.raw. Out: inbound-email.
Owns the aggregate `mail`.
"""

from services.core.bus.processor import Processor
from services.read_email.apply import APPLIERS
from services.read_email.handler import HANDLERS

PROCESSOR = Processor(name="read_email", handlers=HANDLERS, appliers=APPLIERS)
