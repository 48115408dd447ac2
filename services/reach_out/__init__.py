"""Proposes mail that we begin, by the operator's rules: a draft for approval, never more.

In: outreach (the day's round, somebody unsubscribes), thread-events (no room for a draft), deliveries (what became of
it), inbound-email (an answer, or the token of such a mail). Out: outreach, thread-events (a draft is wanted).
Owns the aggregate `outreach_book`: what was proposed to whom, what came of it, and who wants none. Asks no model.
"""

from services.core.bus.processor import Processor
from services.reach_out.apply import APPLIERS
from services.reach_out.handler import HANDLERS

PROCESSOR = Processor(name="reach_out", handlers=HANDLERS, appliers=APPLIERS, at_once=True, background=True)
