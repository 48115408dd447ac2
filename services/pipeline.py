"""The whole flow as data: every processor and every edge, in the order in which a mail meets them."""

from __future__ import annotations

from services import (
    alert_people,
    condense_memory,
    earn_approval,
    generate_reply,
    investigate,
    learn_documents,
    learn_facts,
    load_memory,
    reach_out,
    read_email,
    reflect,
    send_email,
    send_webhooks,
    summarize_threads,
    track_threads,
    watch_incidents,
)
from services.core.bus.processor import Processor
from services.core.bus.unit import Appliers
from services.keep_time.keeper import KEEP_TIME

PROCESSORS: tuple[Processor, ...] = (
    read_email.PROCESSOR,
    track_threads.PROCESSOR,
    load_memory.PROCESSOR,
    generate_reply.PROCESSOR,
    send_email.PROCESSOR,
    reflect.PROCESSOR,
    summarize_threads.PROCESSOR,
    learn_facts.PROCESSOR,
    condense_memory.PROCESSOR,
    learn_documents.PROCESSOR,
    alert_people.PROCESSOR,
    earn_approval.PROCESSOR,
    watch_incidents.PROCESSOR,
    reach_out.PROCESSOR,
    send_webhooks.PROCESSOR,
    investigate.PROCESSOR,
)
# Named and not imported: a command that reads this list needs no IMAP client and no web server.
RECEIVE_EMAIL = "receive_email"
WEB = "web"
EDGES = (RECEIVE_EMAIL, KEEP_TIME, WEB)

NAMES: tuple[str, ...] = (*EDGES, *(one.name for one in PROCESSORS))
IN_ORDER: tuple[str, ...] = (RECEIVE_EMAIL, *(one.name for one in PROCESSORS), KEEP_TIME)  # as events flow


def consumers() -> list[tuple[str, str]]:
    """Every (topic, processor) pair: who has to do each event."""
    return [(topic, one.name) for one in PROCESSORS for topic in one.topics]


def appliers() -> Appliers:
    """Every `apply` of the deployment, by event: what a rebuild applies."""
    return {event: apply for one in PROCESSORS for event, apply in one.appliers.items()}
