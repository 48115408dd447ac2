"""Who gets a copy of a reply: the customer's colleagues on the answered mail's To and Cc, where the inbox wants it.

A copy never goes to somebody whom only a stranger named: the author is proven, a copy goes to the author's own
company alone (never to a domain where everybody can have a mailbox), and to nobody who is us, a machine or a list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from schemas.events.mail import EmailRead, Person
from services.core.mailbox import PUBLIC_PROVIDERS, MailboxKey
from services.core.settings.inbox import LayoutSettings
from services.mail.addresses import parse_address
from services.mail.authentication.sender_checks import domain_of, organizational
from services.mail.compose import ComposeRefused
from services.mail.filters.objections import is_list, is_machine
from services.mail.message import Address
from services.mail.tokens import without_token

LONGEST_ADDRESS = 320  # characters


def copies(mail: EmailRead, layout: LayoutSettings, own: Collection[str]) -> tuple[Address, ...]:
    """The people, as the customer wrote them; nobody where there are more than the inbox allows."""
    if not layout.reply_all or mail.author is None or not mail.identity.trusted:
        return ()
    company = organizational(domain_of(mail.author.addr))
    if not company or company in PUBLIC_PROVIDERS:
        return ()
    found = {one.key: one for one in _people(mail) if organizational(domain_of(one.addr)) == company}
    author = _read(mail.author)
    kept = [one for key, one in found.items() if not (author and key == author.key) and not _ours(one, own)]
    return tuple(kept) if len(kept) <= layout.most_copies else ()


def chosen_copies(
    typed: Collection[str], author: str, layout: LayoutSettings, own: Collection[str]
) -> tuple[Address, ...]:
    """The people whom a person typed, each once. Raises `ComposeRefused` where one may not get a copy.

    A copy goes to people: never to a machine or a list, nor to ourselves, which would answer; and to as many as the
    inbox allows.
    """
    found: dict[MailboxKey, Address] = {}
    for one in typed:
        read = parse_address(one)
        if read is None or read.addr != one.strip():
            raise ComposeRefused(f"no copy to {one[:LONGEST_ADDRESS]!r}: this is not one mail address")
        if is_machine(read.addr) or _ours(read, own):
            raise ComposeRefused(f"no copy to {read.addr}: this is a machine, a list or an inbox of ours")
        found.setdefault(read.key, read)
    answered = parse_address(author)
    kept = tuple(one for key, one in found.items() if answered is None or key != answered.key)
    if len(kept) > layout.most_copies:
        raise ComposeRefused(f"{len(kept)} copies are more than layout.most_copies = {layout.most_copies}")
    return kept


def _people(mail: EmailRead) -> Iterator[Address]:
    for one in (*mail.to, *mail.cc):
        address = _read(one)
        if address and not (is_machine(address.addr) or is_list(address.addr)):
            yield address


def _read(person: Person) -> Address | None:
    read = parse_address(person.addr)
    return Address(person.name, read.addr) if read else None


def _ours(address: Address, own: Collection[str]) -> bool:
    return MailboxKey(without_token(address.addr)) in own
