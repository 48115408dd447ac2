"""Tells endpoints that operators registered what happened, by signed webhooks.

In: inbound-email, thread-events, deliveries, incidents, participant-events (what there are public types for), webhooks
(what people ask of an endpoint), timers (webhook). Out: webhooks, calls (an endpoint was disabled).
Owns the aggregate `webhook_endpoint`: what an endpoint is to be told, and what became of it. Replies go first: no
customer waits for what it does.
"""

from services.core.bus.processor import Processor, refusing_replays
from services.send_webhooks.apply import APPLIERS
from services.send_webhooks.handler import HANDLERS

PROCESSOR = Processor(name="send_webhooks", handlers=refusing_replays(HANDLERS), appliers=APPLIERS, background=True)
