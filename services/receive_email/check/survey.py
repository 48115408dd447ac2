"""Which server writes what it found out about senders into an inbox's mails, for an operator who has named none yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.settings import ImapSettings
from services.mail.authentication.trusted_results import authserv_id, trusted_headers
from services.mail.imap import TokenStore
from services.mail.message import ParsedMail
from services.receive_email.check.imap import newest_mails

LONGEST_NAME = 253  # characters of a host's name


@dataclass(frozen=True, slots=True)
class Survey:
    """The newest mails: how many, and of the server named most often how many have its results, and where they stand.

    `on_top` counts those whose results stand above the server's own Received line; `dmarc` those that tell DMARC.
    """

    mails: int
    server: str = ""
    named: int = 0
    on_top: int = 0
    dmarc: int = 0

    @property
    def is_likely(self) -> bool:
        """Whether most mails have its results: a name that a few senders wrote is nobody's server."""
        return 2 * (self.on_top or self.named) > self.mails


async def survey_inbox(imap: ImapSettings, tokens: TokenStore | None = None) -> Survey:
    """Look at the newest mails of the folder; nothing is changed there. Raises `Fault`."""
    return survey(await newest_mails(imap, tokens))


def survey(mails: Sequence[ParsedMail]) -> Survey:
    """What the mails show. A server whose results stand on top goes before one that is only named."""
    on_top = Counter(name for mail in mails for name in _names(mail) if trusted_headers(mail, {name}, frozenset()))
    named = Counter(name for mail in mails for name in _names(mail))
    found = (on_top or named).most_common(1)
    if not found:
        return Survey(len(mails))
    server = found[0][0]
    told = sum("dmarc=" in "".join(value.split()).lower() for mail in mails for value in _first(mail, server))
    return Survey(len(mails), server, named[server], on_top[server], told)


def _names(mail: ParsedMail) -> set[str]:
    found = (authserv_id(value) for value in mail.all("Authentication-Results"))
    return {name for name in found if name and len(name) <= LONGEST_NAME and name.isprintable()}


def _first(mail: ParsedMail, server: str) -> list[str]:
    return [value for value in mail.all("Authentication-Results") if authserv_id(value) == server][:1]
