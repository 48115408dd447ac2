"""The test of an inbox of the settings, as the command line, the API and the console ask for it: one for all of them.

Invariants
- It asks the servers that the settings name, and no other; it sends no mail and changes nothing.
- No finding holds a password or a refresh token of the settings: what a server repeats of one is cut out.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace

from services.core.app import App
from services.core.errors import Permanent
from services.core.request_limits import Pace
from services.core.settings import ImapSettings, InboxSettings, Settings, SmtpSettings
from services.mail.check.steps import Finding
from services.mail.imap import token_store
from services.receive_email.check import LONGEST_S, check_inbox

HIDDEN = "[not shown]"
SHORTEST = 4  # characters of a secret that is looked for: a shorter one stands in many words
A_MINUTE = 4  # tests of one inbox that pages and programs may ask for: providers lock out who fails to log in too often


class InboxUnknown(Permanent):
    """There is no such inbox in the settings."""


class AskedTooOften(Permanent):
    """The inbox was tested a moment ago."""


async def findings_of(settings: Settings, inbox: InboxSettings, *, within_s: float = LONGEST_S) -> list[Finding]:
    """Each step of an inbox's test, whether it is in the settings already or is to be written there."""
    smtp = inbox.smtp or settings.smtp
    found = await check_inbox(
        inbox,
        smtp,
        authserv_ids=settings.own_authserv_ids,
        stripping_ids=settings.stripping_authserv_ids,
        tokens=token_store(settings),
        within_s=within_s,
    )
    hidden = sorted(set(_secrets(inbox.imap, smtp)), key=len, reverse=True)
    return [replace(one, found=_without(one.found, hidden), remedy=_without(one.remedy, hidden)) for one in found]


class InboxTests:
    """The tests that pages and programs ask for, so many a minute of each inbox."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._pace = Pace(A_MINUTE)

    async def run(self, name: str) -> list[Finding]:
        """Test one inbox of the settings. Raises `InboxUnknown`, `AskedTooOften`."""
        inbox = self._app.settings.known_inbox(name)
        if inbox is None:
            raise InboxUnknown(f"there is no inbox named {name!r} in the settings")
        if wait := self._pace.takes(inbox.name):
            raise AskedTooOften(f"this inbox was tested {A_MINUTE} times in a minute: try again in {wait:.0f} s")
        return await findings_of(self._app.settings, inbox)


def _secrets(imap: ImapSettings | None, smtp: SmtpSettings) -> Iterator[str]:
    """What the servers are given as proof, in clear and as SASL encodes it (RFC 4616, and LOGIN)."""
    for server in (one for one in (imap, smtp) if one is not None):
        password, oauth = server.password.get_secret_value(), server.oauth
        given = [
            password,
            *((one.get_secret_value() for one in (oauth.client_secret, oauth.refresh_token)) if oauth else ()),
        ]
        for one in given:
            if len(one) >= SHORTEST:
                yield from (one, _base64(one), _base64(f"\0{server.username}\0{one}"))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _without(said: str, hidden: list[str]) -> str:
    for one in hidden:
        said = said.replace(one, HIDDEN)
    return said
