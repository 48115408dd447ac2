"""Watches one inbox for as long as the process lives: connect, catch up, wait for news, and again after a failure."""

from __future__ import annotations

import asyncio

import structlog

from services.core.clock import monotonic, pause
from services.core.house import House
from services.core.mail.imap import SENT_ROLE, NoSentFolder
from services.core.settings import ImapSettings, InboxSettings
from services.receive_email.back_off import next_delay
from services.receive_email.imap.connection import Connection, connection
from services.receive_email.imap.nouns import Place
from services.receive_email.imap.plan import Suspicion
from services.receive_email.imap.reader import Reader

log = structlog.get_logger(__name__)


async def watch_inbox(house: House, inbox: InboxSettings, imap: ImapSettings, stop: asyncio.Event) -> None:
    """Let every new mail of the folder in, until `stop`. Nothing that happens on the way ends it."""
    place, suspicion, delay = Place(house, inbox, imap), Suspicion(), 0.0
    while not stop.is_set():
        began = monotonic()
        try:
            async with connection(imap, stop) as made:
                await _read(place, made, suspicion, stop)
        except NoSentFolder as error:
            log.warning("replies of colleagues are not seen", inbox=inbox.name, reason=str(error))
            return
        except Exception as error:
            if stop.is_set():
                return
            delay = next_delay(delay, monotonic() - began)
            log.warning("inbox away", inbox=inbox.name, host=imap.host, error=str(error)[:500], again_in_s=delay)
            await pause(stop, delay)


async def watch_sent(house: House, inbox: InboxSettings, imap: ImapSettings, stop: asyncio.Event) -> None:
    """Let every new mail of the Sent folder in: what is no copy of ours, a colleague wrote."""
    await watch_inbox(house, inbox, imap.model_copy(update={"folder": SENT_ROLE}), stop)


async def _read(place: Place, made: Connection, suspicion: Suspicion, stop: asyncio.Event) -> None:
    reader = Reader(place, made, suspicion)
    await reader.open()
    log.info("inbox open", inbox=place.inbox.name, host=place.imap.host, folder=place.imap.folder)
    await reader.catch_up()
    await reader.retry_unfetched()
    while not stop.is_set():
        await reader.catch_up()
        await _news(place.imap, made, stop)


async def _news(imap: ImapSettings, made: Connection, stop: asyncio.Event) -> None:
    """Return when there may be something new."""
    if made.session.can_idle:
        await made.do(made.session.wait, imap.idle_s)
    else:
        await pause(stop, imap.poll_s)
        await made.do(made.session.noop)
