"""Lets mail in: IMAP, webhooks, files. Raw bytes are stored, their event is on the log, then the source may forget.

An edge: it consumes no topic. Out: inbound-email.raw. Owns inbox_positions, receipts, webhook_requests,
unfetched_mails.
"""

from services.core.bus.processor import Edge
from services.receive_email.accept import NAME
from services.receive_email.inboxes import watch_inboxes
from services.receive_email.routes import routes

EDGE = Edge(name=NAME, run=watch_inboxes, routes=routes)
