"""Sends replies: policy, frozen MIME, the ledger, SMTP.

In: reply-drafted, thread-events (a person's own reply), deliveries (its own, and a person's word), turns (closed),
inbound-email (bounces), timers (send_retry, send_settle, sent_copy).
Out: deliveries, or turns (given up).
Owns the aggregate `delivery`: draft -> approved -> sending -> sent | unknown | failed | bounced, or discarded;
unknown -> sent | failed, by a copy in the Sent folder or by a person.
"""

from services.core.bus.processor import Processor, refusing_replays
from services.send_email.apply import APPLIERS
from services.send_email.handler import HANDLERS
from services.send_email.settlement import give_up

PROCESSOR = Processor(
    name="send_email",
    handlers=refusing_replays(HANDLERS),
    appliers=APPLIERS,
    give_up=give_up,
)
