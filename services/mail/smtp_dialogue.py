"""One SMTP dialogue, in the two halves between which the intent is recorded: up to RCPT, then DATA.

What a server or a lost connection means depends on the half: before DATA nothing has been handed over; after
the final dot, silence means that nobody knows (RFC 5321, section 4.2.5 and RFC 1047).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from aiosmtplib import SMTP, SMTPAuthenticationError, SMTPException, SMTPRecipientsRefused, SMTPResponseException

from services.core.errors import Permanent, Temporary
from services.core.settings import SmtpSettings
from services.core.storable import storable
from services.mail.imap import TokenMissing, TokenRefused, TokenStore, access_token
from services.mail.tls import CaFileUnusable, tls_context

# A client for the server that replies are handed over to, with TLS and login as the settings say.


def smtp_client(settings: SmtpSettings, timeout_s: float | None = None, *, tokens: TokenStore | None = None) -> SMTP:
    """A client that is not connected yet; it logs in, where there is a user name, when it connects.

    With OAuth (XOAUTH2) `connect` may also raise `TokenRefused`. Raises `CaFileUnusable`.
    """
    return SMTP(
        hostname=settings.host,
        port=settings.port,
        username=settings.username or None,
        password=settings.password.get_secret_value() or None,
        oauth_token_generator=partial(access_token, settings.oauth, tokens) if settings.oauth else None,
        use_tls=settings.tls == "implicit",
        start_tls=settings.tls == "starttls",
        tls_context=tls_context(settings.ca_file) if settings.tls != "none" else None,
        timeout=timeout_s or settings.timeout_s,
        local_hostname=settings.helo or None,
    )


class NotNow(Temporary):
    """The server or the network said "not now", and nothing was handed over."""


class ServerAway(NotNow):
    """No session came about: the server cannot be reached, or does not let us in. It says nothing about the mail."""


class SmtpRefused(Permanent):
    """The server refused this mail for good."""


class OutcomeUnknown(Permanent):
    """The connection was lost between DATA and its answer."""


@dataclass(frozen=True, slots=True)
class SmtpMessage:
    """What is handed over: to the recipient, and copies to those of `cc` whom the server takes."""

    envelope_from: str
    recipient: str
    raw: bytes
    cc: tuple[str, ...] = ()

    @property
    def smtputf8(self) -> bool:
        """Whether an address needs RFC 6531."""
        return not "".join((self.envelope_from, self.recipient, *self.cc)).isascii()


class Dialogue:
    """A session in which the server has accepted sender and recipient and waits for DATA."""

    def __init__(self, client: SMTP, mail: SmtpMessage, without: tuple[str, ...] = ()) -> None:
        self._client = client
        self._mail = mail
        self._without = without

    async def data(self) -> str:
        """Hand the mail over; the server's answer. Raises `NotNow`, `SmtpRefused` or `OutcomeUnknown`."""
        try:
            code, message = await self._client.data(self._mail.raw)
        except SMTPResponseException as error:
            raise _by_code(error.code, error.message) from error
        except (SMTPException, OSError, TimeoutError) as error:
            raise OutcomeUnknown(storable(f"{type(error).__name__}: {error}")) from error
        return "; no copy: ".join((_said(code, message), *self._without))


@asynccontextmanager
async def dialogue(
    settings: SmtpSettings, mail: SmtpMessage, tokens: TokenStore | None = None
) -> AsyncIterator[Dialogue]:
    """Connect, greet, name sender and recipient. Raises `NotNow` (`ServerAway`) or `SmtpRefused`; nothing left yet."""
    try:
        client = smtp_client(settings, tokens=tokens)
    except CaFileUnusable as error:
        raise ServerAway(str(error)) from error
    try:
        without = await _introduce(client, mail)
        yield Dialogue(client, mail, without)
    finally:
        await _leave(client)


async def _introduce(client: SMTP, mail: SmtpMessage) -> tuple[str, ...]:
    """Up to the last RCPT; which copies the server does not take. The recipient it must take."""
    try:
        await client.connect()
        if mail.smtputf8 and client.is_ehlo_or_helo_needed:
            await client.ehlo()  # without it no extension is known yet
        options = _options(client, mail)
        encoding: Literal["ascii", "utf-8"] = "utf-8" if mail.smtputf8 else "ascii"
        await client.mail(mail.envelope_from, options=options, encoding=encoding)
        await client.rcpt(mail.recipient, encoding=encoding)
        return tuple([said for one in mail.cc if (said := await _refusal(client, one, encoding))])
    except (SMTPAuthenticationError, TokenRefused, TokenMissing) as error:
        raise ServerAway(storable(f"the login was refused, which says nothing about the mail: {error}")) from error
    except SMTPRecipientsRefused as error:
        raise _by_code(error.recipients[0].code, error.recipients[0].message) from error
    except SMTPResponseException as error:
        raise _by_code(error.code, error.message) from error
    except (SMTPException, OSError, TimeoutError) as error:
        raise ServerAway(storable(f"{type(error).__name__}: {error}")) from error


async def _refusal(client: SMTP, copy_to: str, encoding: Literal["ascii", "utf-8"]) -> str:
    """What the server says against a copy, or ""."""
    try:
        await client.rcpt(copy_to, encoding=encoding)
    except SMTPResponseException as error:
        return f"{copy_to}: {_said(error.code, error.message)}"[:200]
    return ""


def _options(client: SMTP, mail: SmtpMessage) -> list[str]:
    if not mail.smtputf8:
        return []
    if not client.supports_extension("smtputf8"):
        raise SmtpRefused("the address needs SMTPUTF8 (RFC 6531), which the server does not offer")
    return ["SMTPUTF8", "BODY=8BITMIME"]


def _by_code(code: int, message: str) -> Exception:
    said = _said(code, message)
    return SmtpRefused(said) if 500 <= code < 600 else NotNow(said)


def _said(code: int, message: str) -> str:
    """What the server says, as a table can hold it: bytes that are no UTF-8 come as halves of surrogate pairs."""
    return storable(f"{code} {message}")


async def _leave(client: SMTP) -> None:
    if client.is_connected:
        try:
            await client.quit()
        except (SMTPException, OSError, TimeoutError):
            client.close()
