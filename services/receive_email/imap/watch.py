"""Watches one inbox for as long as the process lives: connect, catch up, wait for news, and again after a failure."""

from __future__ import annotations

import asyncio

import structlog

from services.core.app import App
from services.core.clock import monotonic, pause
from services.core.outages import mail_servers
from services.core.retries import reconnect_s
from services.core.settings import ImapSettings, InboxSettings
from services.mail.imap import SENT_ROLE, NoSentFolder, token_store
from services.receive_email.imap.folder import FolderPlace
from services.receive_email.imap.plan import Suspicion
from services.receive_email.imap.reader import Reader
from services.receive_email.imap.session import Connection, connection

log = structlog.get_logger(__name__)

LEAST_WAIT_S = 1.0


async def watch_inbox(app: App, inbox: InboxSettings, imap: ImapSettings, stop: asyncio.Event) -> None:
    """Let every new mail of the folder in, until `stop`. Nothing that happens on the way ends it."""
    place, suspicion, delay = FolderPlace(app, inbox, imap), Suspicion(), 0.0
    while not stop.is_set():
        began = monotonic()
        app.metrics.watches_inbox(inbox.name, _folder(imap), False)
        try:
            async with connection(imap, stop, token_store(app.settings)) as made:
                await _read(place, made, suspicion, stop)
        except NoSentFolder as error:
            log.warning("replies of colleagues are not seen", inbox=inbox.name, reason=str(error))
            return
        except Exception as error:
            app.metrics.watches_inbox(inbox.name, _folder(imap), False)
            if stop.is_set():
                return
            delay = reconnect_s(delay, monotonic() - began)
            await _say_away(place, str(error) or type(error).__name__, delay)
            await pause(stop, delay)


async def watch_sent(app: App, inbox: InboxSettings, imap: ImapSettings, stop: asyncio.Event) -> None:
    """Let every new mail of the Sent folder in: what is no copy of ours, a colleague wrote."""
    await watch_inbox(app, inbox, imap.model_copy(update={"folder": SENT_ROLE}), stop)


def _folder(imap: ImapSettings) -> str:
    """The metric's label: the inbox's folder, or the one of sent mail."""
    return "sent" if imap.folder == SENT_ROLE else "inbox"


async def _say_away(place: FolderPlace, error: str, again_s: float) -> None:
    """Loud once for each outage, whichever of the inbox's folders met it first; `status` shows it while it lasts."""
    what = error if _folder(place.imap) == "inbox" else f"the folder of sent mail: {error}"
    new = await mail_servers.note(place.app, "imap", place.inbox.name, what, again_s)
    say = log.warning if new else log.debug
    remedy = f"correspondent inbox test {place.inbox.name}"
    say("inbox away", inbox=place.inbox.name, host=place.imap.host, error=what[:500], again_in_s=again_s, try_it=remedy)


async def _read(place: FolderPlace, made: Connection, suspicion: Suspicion, stop: asyncio.Event) -> None:
    reader = Reader(place, made, suspicion)
    await reader.open()
    log.info("inbox open", inbox=place.inbox.name, host=place.imap.host, folder=place.imap.folder)
    place.app.metrics.watches_inbox(place.inbox.name, _folder(place.imap), True)
    await mail_servers.clear(place.app, "imap", place.inbox.name)
    while not stop.is_set():
        await reader.catch_up()
        again_s = await reader.retry_unfetched()
        await _news(place.imap, made, stop, max(LEAST_WAIT_S, again_s))


async def _news(imap: ImapSettings, made: Connection, stop: asyncio.Event, longest_s: float) -> None:
    """Return when there may be something new, or after `longest_s`, when something is to be tried again."""
    if made.session.can_idle:
        await made.do(made.session.wait, min(imap.idle_s, longest_s))
    else:
        await pause(stop, min(imap.poll_s, longest_s))
        await made.do(made.session.noop)
