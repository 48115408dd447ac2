"""Sends replies: policy, frozen MIME, the ledger, SMTP.

In: reply-drafted, deliveries (its own, approved), inbound-email (bounces), timers (send_retry).
Out: deliveries, or turns (given up).
Owns the aggregate `delivery`: draft -> approved -> sending -> sent | unknown | failed | bounced, or discarded.
"""

from services.core.bus.processor import Processor
from services.send_email.apply import APPLIERS
from services.send_email.given_up import give_up
from services.send_email.handler import HANDLERS

PROCESSOR = Processor(name="send_email", handlers=HANDLERS, appliers=APPLIERS, give_up=give_up)
