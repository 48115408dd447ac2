"""Mail that a trusted program hands on for a customer: whom it names is the author, and stays unproven. Pure.

The operator trusts the program to be honest about who filled the form in, not the person to be whom they claim: they
are answered as the inbox answers anybody, and nothing is remembered or shown.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from schemas.events.mail import Identity
from services.core.mailbox import ascii_lower
from services.core.settings.inbox import Forwarder
from services.mail.addresses import parse_address
from services.mail.authentication import Dkim
from services.mail.filters.objections import is_machine
from services.mail.message import Address, ParsedMail

METHOD = "forwarder"
LOOKED_AT = 20_000  # characters of the text in which a field is looked for
_MARKS = " \t*_>|<"  # what HTML and Markdown leave around a label and a value
_AUTOMATIC = {
    *("auto-submitted", "precedence", "x-precedence", "x-auto-response-suppress", "x-autoreply", "feedback-id"),
    "return-path",
}


def forwarded_by(
    mail: ParsedMail, forwarders: Sequence[Forwarder], identity: Identity, signatures: Collection[Dkim]
) -> Forwarder | None:
    """The forwarder that sent a mail, proven by its level or by a signature of the domain that it names.

    What it is proven by covers the Reply-To where that names the author: else whoever has such a mail could write
    another there, and have the answer sent to anybody.
    """
    if mail.author is None:
        return None
    for one in forwarders:
        if fnmatchcase(mail.author.key, ascii_lower(one.sender)) and _is_proven(one, identity, signatures):
            return one
    return None


def _is_proven(forwarder: Forwarder, identity: Identity, signatures: Collection[Dkim]) -> bool:
    header = "reply-to" if forwarder.author == "reply_to" else ""
    if identity.trusted and header not in identity.unsigned:
        return True
    domain = ascii_lower(forwarder.dkim_domain)
    of_it = [one for one in signatures if one.domain == domain != "" and one.result == "pass"]
    return any(not header or (one.signature is not None and header in one.signature.covers) for one in of_it)


def author_named(mail: ParsedMail, forwarder: Forwarder, own: Collection[str]) -> Address | None:
    """The one person whom a forwarder names; None where it names nobody, several, a machine or us."""
    found = _reply_to(mail) if forwarder.author == "reply_to" else _field(mail, forwarder.field)
    if found is None or found.key in own or is_machine(found.addr) or (mail.author and found.key == mail.author.key):
        return None
    return found


def in_their_name(mail: ParsedMail, author: Address) -> ParsedMail:
    """The mail as the customer's: the marks by which the program says that it is one are its own, not theirs."""
    headers = tuple((name, value) for name, value in mail.headers if name.lower() not in _AUTOMATIC)
    return replace(mail, author=author, from_=(author,), sender=(), reply_to=(), headers=headers)


def _reply_to(mail: ParsedMail) -> Address | None:
    return mail.reply_to[0] if len(mail.reply_to) == 1 and len(mail.all("Reply-To")) == 1 else None


def _field(mail: ParsedMail, name: str) -> Address | None:
    """The address on the one line `Name: value`; two such lines with two values name nobody."""
    values: set[str] = set()
    for line in mail.text[:LOOKED_AT].split("\n"):
        label, _, value = line.partition(":")
        if ascii_lower(label.strip(_MARKS)) == ascii_lower(name) and value.strip(_MARKS):
            values.add(value.strip(_MARKS))
    return parse_address(values.pop()) if len(values) == 1 else None
