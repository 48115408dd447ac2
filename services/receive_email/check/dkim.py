"""The signature of an inbox's replies: the key file signs, and the DNS holds the key that it is checked with."""

from __future__ import annotations

import asyncio

from services.core.mailbox import MailboxKey, domain_name
from services.core.settings import DkimSettings
from services.mail.authentication import Resolver
from services.mail.authentication.sender_checks import check_dkim
from services.mail.check.steps import Fault, Finding, Step
from services.mail.compose.dkim_signing import DkimKey, dkim_sign
from services.mail.compose.wire import ComposeRefused

_SAMPLE = b"From: <%s>\r\nTo: <%s>\r\nSubject: test\r\nDate: Mon, 02 Mar 2026 09:00:00 +0000\r\n\r\ntest\r\n"


def dkim_steps(dkim: DkimSettings, address: str, resolver: Resolver) -> list[tuple[str, Step]]:
    """The steps for one key; nothing is sent."""

    async def sign() -> str:
        await asyncio.to_thread(_signed, dkim, address)
        return f"{dkim.key_file} signs for {dkim.domain}"

    async def look_up() -> str:
        return await asyncio.to_thread(_published, dkim, address, resolver)

    return [("dkim key", sign), ("dkim record", look_up), ("dkim domain", lambda: _aligned(dkim, address))]


def _signed(dkim: DkimSettings, address: str) -> bytes:
    try:
        key = DkimKey(dkim.domain, dkim.selector, dkim.key_file.read_bytes(), dkim.algorithm)
        return dkim_sign(_SAMPLE % (address.encode(), address.encode()), key)
    except OSError as error:
        remedy = "put the private key there, readable for us, or set inboxes.dkim.key_file"
        raise Fault(Finding("dkim key", False, f"{dkim.key_file} cannot be read: {error.strerror}", remedy)) from error
    except ComposeRefused as error:
        remedy = "the file has to be PEM for rsa, the base64 of the 32-byte seed for ed25519 (inboxes.dkim.algorithm)"
        raise Fault(Finding("dkim key", False, str(error), remedy)) from error


def _published(dkim: DkimSettings, address: str, resolver: Resolver) -> str:
    name = f"{dkim.selector}._domainkey.{dkim.domain}"
    (found,) = check_dkim(_signed(dkim, address), resolver)
    if found.result == "pass":
        return f"{name} holds the key"
    if found.result == "temperror":
        raise Fault(Finding("dkim record", False, f"the DNS does not answer: {found.why}", "try again in a while"))
    if found.why == "no usable key":
        remedy = (
            f'publish it: {name} TXT "v=DKIM1; k={dkim.algorithm}; p=..." with the public key; DNS may take an hour'
        )
        raise Fault(Finding("dkim record", False, f"there is no usable key at {name}", remedy))
    remedy = "publish the public half of this key file, or take a selector of its own for it"
    raise Fault(Finding("dkim record", False, f"{name} holds another key than the file: {found.why}", remedy))


async def _aligned(dkim: DkimSettings, address: str) -> str:
    domain, signed = MailboxKey(address).domain, domain_name(dkim.domain)
    if domain != signed and not domain.endswith(f".{signed}"):
        remedy = f"sign as {domain}: a signature of another domain counts for nothing in DMARC"
        raise Fault(Finding("dkim domain", False, f"replies are from {domain}, signed as {dkim.domain}", remedy))
    return f"replies from {domain} are signed as {dkim.domain}"
